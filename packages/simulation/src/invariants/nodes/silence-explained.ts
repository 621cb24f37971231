// Invariant: a node, also one that runs the control plane, becomes unreachable or failed only together with its event.
// docs/design/liveness.md#control-plane-nodes

import type { Invariant } from '../invariant.ts'

export const silenceExplained: Invariant = {
  name: 'silence-explained',
  start: () =>
    function* ({ events, nodes }) {
      for (const { tenant, was, is } of nodes.changed) {
        if (is === undefined || is.status === was?.status) continue
        if (is.status !== 'unreachable' && is.status !== 'failed') continue
        const isPublished = events.changed.some(
          (event) =>
            event.tenant === tenant &&
            event.is?.type === `node.${is.status}` &&
            event.is.subject.uid === is.id,
        )
        if (!isPublished) yield { subject: is.name, message: `is ${is.status}, and has no event` }
      }
    },
}
