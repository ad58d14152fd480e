# tests of transport
