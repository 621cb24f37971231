// A control-plane node that stops sending heartbeats publishes neither node.unreachable nor node.failed. See
// docs/design/liveness.md#control-plane-nodes

import type { Invariant } from './invariant.ts'

const FAULTS: ReadonlySet<string> = new Set(['node.unreachable', 'node.failed'])

export const controlPlaneQuiet: Invariant = {
  name: 'control-plane-quiet',
  start: () =>
    function* ({ events, nodes }) {
      for (const { tenant, was, is } of events.changed) {
        if (is === undefined || was !== undefined || !FAULTS.has(is.type)) continue
        // Its record is written together with the event, and says what it was then.
        const node = nodes.is(tenant, is.subject.uid)
        if (node?.controlPlane === true)
          yield { subject: node.name, message: `is the control plane’s, and ${is.type} is told of it` }
      }
    },
}
