// Runs cases of the WebGPU conformance tests (a checkout of theirs with its `out-node`) in node, by Dawn (npm's `webgpu`).
//
//   node --expose-gc webgpu_cts.mjs CHECKOUT MODULES list QUERY...    the names of all cases that the queries have
//   node --expose-gc webgpu_cts.mjs CHECKOUT MODULES run FILE         those that the file names, in the suite's order, one after the other
//
// MODULES: the folder with `node_modules/webgpu`. What `run` prints is what scripts/conformance.py reads: a line when a case begins, and a
// status with its first words when it ends. Source: the suite's own command line, src/common/runtime/cmdline.ts, says how it is used.
import { readdirSync, readFileSync, writeSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

const [checkout, modules, mode, ...words] = process.argv.slice(2);
const out = join(resolve(checkout), 'out-node');
const load = createRequire(join(out, 'package.json'));
const suite = path => load(`./common/${path}.js`);
const { setBaseResourcePath, getResourcePath } = suite('framework/resources');
const { parseQuery } = suite('internal/query/parseQuery');

// Written at once: a process that a driver ends has said which case it was in. On a line of its own: Dawn warns without an end of line.
function say(line) {
  let rest = Buffer.from(`\n${line}\n`);
  while (rest.length) {
    try { rest = rest.subarray(writeSync(1, rest)); } catch (error) { if (error.code !== 'EAGAIN') throw error; }
  }
}

// The files of tests are found where they lie: a checkout's own list of them is made by another of its steps.
class Files extends suite('internal/file_loader').DefaultTestFileLoader {
  async listing(name) {
    return readdirSync(join(out, name), { recursive: true }).filter(path => path.endsWith('.spec.js')).sort()
      .map(path => ({ file: path.slice(0, -'.spec.js'.length).split('/') }));
  }
}

// Expected values that take long to compute are beside the tests; what is not there is computed. The tests read an array from its buffer's
// beginning, so it has one of its own.
function useCache() {
  setBaseResourcePath(join(out, 'resources'));
  suite('framework/data_cache').dataCache.setStore({
    load: async path => new Uint8Array(readFileSync(getResourcePath(`cache/${path}`))),
  });
}

async function useDawn() {
  const { create, globals } = await import(pathToFileURL(createRequire(resolve(modules) + '/').resolve('webgpu')).href);
  Object.assign(globalThis, globals);
  suite('util/navigator_gpu').setGPUProvider(() => globalThis.kept = create(['backend=vulkan']));
}

const STATUS = { pass: 'Pass', warn: 'QualityWarning', skip: 'NotSupported', fail: 'Fail' };

function wordsOf(logs) {
  const told = (logs ?? []).filter(log => !/(INFO|DEBUG)$/.test(log.name));
  const first = told.find(log => !/SKIP$/.test(log.name)) ?? told[0];
  return first ? `${first.name} ${first.message}`.replace(/\s+/g, ' ').trim().slice(0, 200) : '';
}

async function run(names) {
  const byFile = new Map();
  for (const name of names) {
    const file = name.split(':').slice(0, 2).join(':');
    byFile.set(file, (byFile.get(file) ?? new Set()).add(name));
  }
  const log = new (suite('internal/logging/logger').Logger)();
  for (const [file, wanted] of byFile) {
    for (const one of await new Files().loadCases(parseQuery(`${file}:*`))) {
      const name = one.query.toString();
      if (!wanted.has(name)) continue;
      say(`Test case '${name}'..`);
      const [recorder, result] = log.record(name);
      await one.run(recorder, []);
      say(`  ${STATUS[result.status]} (${wordsOf(result.logs)})`);
    }
  }
}

if (mode === 'list') {
  for (const query of words) for (const one of await new Files().loadCases(parseQuery(query))) console.log(one.query.toString());
} else {
  useCache();
  await useDawn();
  await run(readFileSync(words[0], 'utf8').split('\n').filter(line => line));
  process.exit(0);  // what is left of a device is not waited for
}
