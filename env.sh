export CCACHE_DIR=/tmp/ccache CCACHE_BASEDIR=/tmp/wt/lead CCACHE_NOHASHDIR=1 CCACHE_MAXSIZE=10G
export PATH=/tmp/venv/bin:$PATH
export PYTHONPATH=/tmp/wt/lead/build/py:/tmp/wt/lead
bld() { nice -n ${NICE:-5} cmake --build /tmp/wt/lead/build --target ${1:-_core} -- -j${J:-2} 2>&1 | tail -5; }
