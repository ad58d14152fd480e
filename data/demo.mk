# filled by the demo
