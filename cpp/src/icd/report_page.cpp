// icd/report_page.cpp -- the page of a report: one file, no network. In: the report's JSON. Out: HTML that shows it.
#include "icd/explained.hpp"

namespace tilegpu::icd {
namespace {

constexpr const char* kHead = R"html(<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>tilegpu report</title>
<style>
:root { color-scheme: light dark; --line: #8884; --soft: #8881; --on: #2a8f4a; --off: #b3402e; }
body { font: 14px/1.45 system-ui, sans-serif; margin: 1.5em auto; max-width: 75em; padding: 0 1em; }
h1 { font-size: 1.4em; } h2 { font-size: 1.15em; margin: 1.6em 0 .4em; } h3 { font-size: 1em; margin: 1em 0 .3em; }
table { border-collapse: collapse; margin: .3em 0; } th, td { padding: .15em .7em; border-bottom: 1px solid var(--line); text-align: left; vertical-align: top; }
td.n, th.n { text-align: right; font-variant-numeric: tabular-nums; } thead th { background: var(--soft); }
details { border: 1px solid var(--line); border-radius: .4em; margin: .5em 0; padding: .3em .8em; } summary { cursor: pointer; }
summary b { margin-right: .6em; } .on { color: var(--on); } .off { color: var(--off); } .soft { opacity: .7; } ul { margin: .2em 0; padding-left: 1.3em; }
.bar { display: inline-block; height: .7em; background: #4a78c8; vertical-align: baseline; }
</style></head><body><h1>tilegpu report</h1><p id="about"></p><div id="frames"></div>
<script type="application/json" id="data">)html";

constexpr const char* kTail = R"html(</script>
<script>
'use strict';
const report = JSON.parse(document.getElementById('data').textContent);
const make = (tag, text, cls) => { const e = document.createElement(tag); if (text !== undefined) e.textContent = text; if (cls) e.className = cls; return e; };
const add = (parent, ...children) => { children.forEach(c => parent.appendChild(c)); return parent; };
const named = label => report.names[label] ? `${report.names[label]} (${label})` : label;
const bytes = n => n >= 1e9 ? (n / 1e9).toFixed(2) + ' GB' : n >= 1e6 ? (n / 1e6).toFixed(2) + ' MB' : n >= 1e3 ? (n / 1e3).toFixed(1) + ' kB' : n + ' B';
const count = n => n.toLocaleString('en');
const saved = cause => cause.startsWith('saved_') || cause === 'clear';
const total = p => Object.values(p.stats.traffic_B).reduce((s, row) => s + Object.entries(row).reduce((t, [c, n]) => t + (saved(c) ? 0 : n), 0), 0);
function table(head, rows) {
  const t = make('table'), numeric = head.map((_, i) => rows.length > 0 && rows.every(r => typeof r[i] === 'number' || r[i] instanceof Number || /^[\d.,]+( [kMG]?B)?$/.test(r[i])));
  add(t, add(make('thead'), add(make('tr'), ...head.map((h, i) => make('th', h, numeric[i] ? 'n' : '')))));
  add(t, add(make('tbody'), ...rows.map(r => add(make('tr'), ...r.map((c, i) => c instanceof Node ? add(make('td'), c) : make('td', c, numeric[i] ? 'n' : ''))))));
  return t;
}
function trafficTable(p) {
  const all = Object.entries(p.stats.traffic_B);
  const causes = [...new Set(all.flatMap(([, row]) => Object.keys(row)))].filter(c => all.some(([, row]) => row[c] > 0));
  if (!causes.length) return make('p', 'No byte moved between tile memory and images.', 'soft');
  const f = p.framebuffer, image = a => named([f.store[a]?.samples?.image, f.store[a]?.resolved?.image, f.load[a]?.image].find(i => i && i !== 'none') ?? 'none');
  return table(['attachment', 'image', ...causes.map(c => c.replaceAll('_', ' '))], all.map(([a, row]) => [a, image(a), ...causes.map(c => bytes(row[c]))]));
}
function technique(t) {
  const e = make('div'), cls = t.state === 'on' ? 'on' : t.reason.startsWith('switched off') ? 'soft' : 'off';
  add(e, make('span', `${t.technique.replaceAll('_', ' ')}: ${t.state}`, cls));
  if (t.reason) add(e, make('span', ` ${t.rule ? 'rule ' + t.rule + ': ' : ''}${t.reason}${t.by_draw >= 0 ? ' (draw ' + t.by_draw + ')' : ''}`, 'soft'));
  return e;
}
function drawRow(d) {
  const why = make('div');
  const line = (name, off) => add(why, add(make('div'), make('span', `${name}: ${off ? 'off' : 'on'}`, off ? 'off' : 'on'), make('span', off ? ' ' + off : '', 'soft')));
  line('early tests', d.early_tests_off); line('visibility buffer', d.visibility_off);
  d.techniques.forEach(t => add(why, technique(t)));
  if (d.low_resolution_z_off) add(why, make('div', 'low-resolution Z: ' + d.low_resolution_z_off, 'soft'));
  const range = d.draw_count > 1 ? `${d.first_draw} to ${d.first_draw + d.draw_count - 1}` : String(d.first_draw);
  return [range, named(d.pipeline), d.plan, why];
}
function passOf(p, most) {
  const f = p.framebuffer.layout, e = make('details'), moved = total(p);
  const head = make('summary');
  const bar = make('span', '', 'bar'); bar.style.width = (most ? 12 * moved / most : 0) + 'em';
  add(head, make('b', p.label || 'pass ' + p.pass), make('span', `${f.width_px} x ${f.height_px}${f.samples > 1 ? ', ' + f.samples + ' samples' : ''}, tile ${f.tile_width_px} x ${f.tile_height_px}, ${count(p.stats.draws)} draws, ${bytes(moved)} `), bar);
  if (p.lint.length) add(head, make('span', ` ${p.lint.length} to look at`, 'off'));
  add(e, head, make('h3', 'Bytes between tile memory and images'), trafficTable(p));
  if (p.lint.length) add(e, make('h3', 'What costs bytes without need'), add(make('ul'), ...p.lint.map(l => make('li', l))));
  if (p.draws.length) add(e, make('h3', 'Draws: which hidden-surface removal, and why not'), table(['draw', 'pipeline', 'way through the tile phase', 'techniques'], p.draws.map(drawRow)));
  const counters = Object.entries(p.stats).filter(([k, v]) => typeof v === 'number' && v > 0);
  add(e, make('h3', 'Counts'), table(['what', 'how many'], counters.map(([k, v]) => [k.replaceAll('_', ' '), Number.isInteger(v) ? count(v) : v.toFixed(2)])));
  return e;
}
const size3 = xyz => xyz.join(' x ');
function dispatchTable(rows) {
  const bound = d => add(make('div'), ...d.bound.map(b => make('div', `${b.name} (${b.set}, ${b.binding})${b.count > 1 ? ' x ' + b.count : ''}: ${bytes(b.size_B)}${b.written ? ', written' : ''}`)),
    ...(d.reads_addresses || d.writes_addresses ? [make('div', `by address: any buffer that has one${d.writes_addresses ? ', written' : ''}`)] : []));
  return table(['dispatch', 'pipeline', 'workgroups', 'of', 'invocations', 'at a time', 'shared', 'bound', 'what', 'ms'], rows.map(d => [String(d.dispatch), named(d.pipeline), size3(d.workgroups), size3(d.workgroup_size),
    count(d.invocations), `${d.lanes} on ${d.threads} thread${d.threads > 1 ? 's' : ''}${d.ordered ? ', workgroups in order: atomics want it' : ''}`, bytes(d.shared_memory_B), bytes(d.bound_B), bound(d), d.time_ms.toFixed(3)]));
}
const profiles = [...new Set(report.passes.map(p => p.framebuffer.layout.profile))].join(', ');
document.getElementById('about').textContent = `${report.program}, tilegpu ${report.tilegpu}, profile ${profiles || 'none'}: ${report.passes.length} passes, ${report.dispatches.length} dispatches` +
  (report.passes_left_out ? `; ${report.passes_left_out} more were left out (TILEGPU_REPORT_PASSES)` : '') + (report.dispatches_left_out ? `; ${report.dispatches_left_out} more dispatches were left out` : '') + '.';
for (const error of report.errors) add(document.getElementById('frames'), make('p', error, 'off'));
if (report.warnings.length) add(document.getElementById('frames'), add(make('details'), make('summary', `What the driver warned of (${report.warnings.length})`),
  add(make('ul'), ...report.warnings.map(w => make('li', w)))));
if (report.render_passes.length) add(document.getElementById('frames'), add(make('details'), make('summary', 'Subpasses: which are one tile pass, and what forbade it'),
  table(['render pass', 'made'], report.render_passes.map(r => [r.text.replace(/^render pass: /, ''), count(r.made)]))));
const frames = new Map();
const frameOf = p => { const k = report.frames_presented ? 'Frame ' + p.frame : 'Submission ' + p.submission; if (!frames.has(k)) frames.set(k, {passes: [], dispatches: [], at: p.submission}); return frames.get(k); };
for (const p of report.passes) frameOf(p).passes.push(p);
for (const d of report.dispatches) frameOf(d).dispatches.push(d);
const several = (n, what) => `${n} ${what}${n === 1 ? '' : what.endsWith('s') || what.endsWith('h') ? 'es' : 's'}`;
for (const [name, {passes, dispatches}] of [...frames].sort((a, b) => a[1].at - b[1].at)) {
  const most = Math.max(0, ...passes.map(total));
  const what = [...(passes.length ? [several(passes.length, 'pass'), bytes(passes.reduce((s, p) => s + total(p), 0))] : []), ...(dispatches.length ? [several(dispatches.length, 'dispatch')] : [])];
  add(document.getElementById('frames'), make('h2', `${name}: ${what.join(', ')}`), ...passes.map(p => passOf(p, most)), ...(dispatches.length ? [make('h3', 'Dispatches'), dispatchTable(dispatches)] : []));
}
</script></body></html>
)html";

}  // namespace

std::string report_page(const std::string& json) {
  std::string page = kHead;
  page.reserve(page.size() + json.size() + 8192);
  for (size_t i = 0; i < json.size(); ++i) {
    page += json[i];
    if (json[i] == '<' && i + 1 < json.size()) page.back() = '\\', page += "u003c";  // no tag ends the data
  }
  return page + kTail;
}

}  // namespace tilegpu::icd
