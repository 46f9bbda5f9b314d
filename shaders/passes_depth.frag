#version 450
// A pass for depth alone: nothing is shaded.
void main() {}
