// Asks the other server replicas whether one of them has a fresh view of the store and accepts agents, and answers the same
// question. See docs/design/liveness.md#cut-off

import { boolean, decodeOpen, defined, encodeOpen, object } from '@holdfast/contract'
import { withDeadline } from '../../lib/with-deadline.ts'
import type { GatewayContext } from '../deps.ts'
import type { InternalAnswer, InternalRequest } from './call-node.ts'
import { noteRefusal, refuseEpoch, withEpoch } from './calling-epoch.ts'
import { createProofCheck, proveRequest } from './cluster-proof.ts'
import { postJson } from './post-json.ts'
import type { ReplicaAddresses } from './replica-addresses.ts'

export const VIEW_PATH = '/internal/view'
/** The answering replica reads the store within this time, so that its answer arrives before the caller's deadline. */
const PROBE_MS = 2_000
const CALL_MS = 3_000

const viewAnswerShape = object({ fresh: boolean() })

export interface OthersView {
  /** Whether another server replica reported a fresh view. False if none answered, which does not mean that none has one. */
  readonly fresh: boolean
  /** The answer of each asked replica, by its address. */
  readonly others: { readonly [url: string]: string }
}

export interface ViewCalls {
  /** Resolves as soon as one replica reports a fresh view. */
  askOthers(): Promise<OthersView>
  handler(request: InternalRequest): Promise<InternalAnswer>
}

type ViewContext = Pick<
  GatewayContext,
  'store' | 'clock' | 'clusterKey' | 'clusterCa' | 'post' | 'acceptsAgents'
>

export function createViewCalls(
  context: ViewContext,
  addresses: Pick<ReplicaAddresses, 'known'>,
  closing: AbortSignal,
): ViewCalls {
  const { store, clock, clusterKey, acceptsAgents = true } = context
  const isProven = createProofCheck(clusterKey, clock)
  return {
    async askOthers() {
      const others: { [url: string]: string } = {}
      const asked = addresses.known(performance.now()).map(async (url) => {
        others[url] = await askOne(context, url)
        if (others[url] !== FRESH) throw new Error(others[url])
      })
      // Promise.any rejects if no replica proves a fresh view.
      const fresh = await Promise.any(asked).then(
        () => true,
        () => false,
      )
      return { fresh, others }
    },
    async handler({ headers, path, body }) {
      if (!isProven(headers.authorization, { method: 'POST', path, body })) return { status: 401, body: '{}' }
      const refused = refuseEpoch(store, body)
      if (refused !== undefined) return { status: refused, body: '{}' }
      // A replica that stops, or that takes no agents, is no place to which an agent could move.
      const isOpen = acceptsAgents && !closing.aborted
      return { status: 200, body: encodeOpen({ fresh: isOpen && (await isFresh(store)) }) }
    },
  }
}

const isFresh = (store: Pick<GatewayContext['store'], 'fresh'>): Promise<boolean> =>
  withDeadline(
    PROBE_MS,
    store.fresh().then(
      () => true,
      () => false,
    ),
    () => false,
  )

const FRESH = 'has a fresh view'

async function askOne(
  { store, clusterKey, clusterCa, clock, post = postJson }: ViewContext,
  base: string,
): Promise<string> {
  const body = encodeOpen(withEpoch(store, {}))
  try {
    const url = new URL(VIEW_PATH, base)
    const authorization = proveRequest(clusterKey, clock, { method: 'POST', path: VIEW_PATH, body })
    const answer = await post({
      url,
      body,
      authorization,
      deadlineMs: CALL_MS,
      ...defined({ ca: clusterCa }),
    })
    noteRefusal(store, answer.status)
    if (answer.status !== 200) return `answered ${answer.status}`
    return decodeOpen(viewAnswerShape, JSON.parse(answer.body)).fresh ? FRESH : 'has no fresh view'
  } catch (error) {
    return `did not answer: ${String(error)}`
  }
}
