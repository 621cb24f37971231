// Invariant: a node that runs the control plane has no node.unreachable and no node.failed event.
// docs/design/liveness.md#control-plane-nodes

import type { Invariant } from '../invariant.ts'

const FAULTS: ReadonlySet<string> = new Set(['node.unreachable', 'node.failed'])

export const controlPlaneQuiet: Invariant = {
  name: 'control-plane-quiet',
  start: () =>
    function* ({ events, nodes }) {
      for (const { tenant, was, is } of events.changed) {
        if (is === undefined || was !== undefined || !FAULTS.has(is.type)) continue
        // The node's record is written in the same transaction as the event and shows the node's role at that time.
        const node = nodes.is(tenant, is.subject.uid)
        if (node?.controlPlane === true)
          yield { subject: node.name, message: `is a control-plane node, and has the event ${is.type}` }
      }
    },
}
