// Fusing and unfusing, exact inverses.
#include "passes/instruction_graph.h"

#include "hocket/diagnostic.h"

namespace hocket::passes {

void Graph::fuse(NodeId recv, NodeId send, bool value_dead) {
  Node& r = nodes[recv];
  Node& s = nodes[send];
  HOCKET_CHECK(r.out == kNone && s.active && s.out != kNone, "a receive absorbs one active send");
  r.op = r.op == OpCode::recv ? OpCode::recv_copy_send
         : value_dead         ? OpCode::recv_reduce_send
                              : OpCode::recv_reduce_copy_send;
  r.out = s.out;
  messages[s.out].send = recv;
  s.active = false;
  absorbed[recv] = send;
  absorbed_into[send] = recv;
}

void Graph::unfuse(NodeId recv) {
  Node& r = nodes[recv];
  const NodeId send = absorbed[recv];
  HOCKET_CHECK(send != kNone, "only a fused node can be taken apart");
  r.op = r.op == OpCode::recv_copy_send ? OpCode::recv : OpCode::recv_reduce_copy;
  messages[r.out].send = send;
  r.out = kNone;
  nodes[send].active = true;
  absorbed[recv] = kNone;
  absorbed_into[send] = send;
}

}  // namespace hocket::passes
