// What an agent may ask: the environment of a container that this node is to have, and the tenant's credential for a
// registry from which it has an image to pull; for nothing else. Both come sealed from the broker to the node's key and are
// only relayed here. DECISIONS 8, SAFETY 2 row 25.

import type { Answer, AssignmentId, Call } from '@holdfast/contract'
import type { Assigned } from '../../ports/broker.ts'
import type { GatewayContext } from '../deps.ts'
import type { DesiredIndex, Wish } from '../desired/desired-index.ts'
import { type Session, send } from './session.ts'

/** Of one window: as many containers as a node can well make in that time. */
const ASKS_IN_WINDOW = 200

export async function answerAgent(
  context: GatewayContext,
  index: DesiredIndex,
  session: Session,
  call: Call,
): Promise<void> {
  session.asks += 1
  const answer =
    session.asks > ASKS_IN_WINDOW ? { error: 'too_many_asks' } : await relay(context, index, session, call)
  send(session.socket, { type: 'answer', id: call.id, ...answer })
}

async function relay(
  context: GatewayContext,
  index: DesiredIndex,
  session: Session,
  { method, host, assignmentId, attempt }: Call,
): Promise<Partial<Answer>> {
  if (method === 'registry' && host !== undefined) return credentialAnswer(context, index, session, host)
  if (method === 'environment' && assignmentId !== undefined && attempt !== undefined)
    return environmentAnswer(context, index, session, { assignmentId, attempt })
  return { error: 'not_answered_here' }
}

async function environmentAnswer(
  { broker }: GatewayContext,
  index: DesiredIndex,
  session: Session,
  { assignmentId, attempt }: { readonly assignmentId: AssignmentId; readonly attempt: string },
): Promise<Partial<Answer>> {
  const wish = index.desiredRolloutOf(session, assignmentId)
  if (wish?.assignment.desired !== 'running') return { error: 'not_assigned' }
  const asked = broker.sealEnvironment({ ...assignedOf(session, wish), attempt })
  return asked.catch((): Partial<Answer> => ({ error: 'broker_unavailable' }))
}

/** A cause may hold what must not be told; the broker has logged its own. */
async function credentialAnswer(
  { broker }: GatewayContext,
  index: DesiredIndex,
  session: Session,
  host: string,
): Promise<Partial<Answer>> {
  const wish = index.wishesOf(session).find((one) => pullsFrom(one, host))
  if (wish === undefined) return { error: 'host_not_in_use' }
  const unavailable: Partial<Answer> = { error: 'credential_unavailable' }
  const answer = await broker.sealCredential({ ...assignedOf(session, wish), host }).catch(() => unavailable)
  return answer.error === undefined ? answer : unavailable
}

const assignedOf = ({ tenant, nodeId }: Session, { placement, assignment }: Wish): Assigned => ({
  ...{ tenant, nodeId, deployment: placement.uid, assignmentId: assignment.id },
})

function pullsFrom({ placement, assignment }: Wish, host: string): boolean {
  const image = placement.templates[assignment.templateHash]?.image
  return assignment.desired === 'running' && image?.startsWith(`${host}/`) === true
}
