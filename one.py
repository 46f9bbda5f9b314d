import sys
sys.argv=["x",sys.argv[1]]
exec(open("/tmp/escratch/cold.py").read())
