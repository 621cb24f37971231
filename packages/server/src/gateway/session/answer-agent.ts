// Answers the calls of an agent: for the environment of a container assigned to the node, for the tenant's credential for
// the registry of an image that the node pulls, and for the configuration of volumes. The broker seals environments and
// credentials to the node's key; the gateway only relays them. See docs/design/secrets.md#dispatch

import type { Answer, AssignmentId, Call } from '@holdfast/contract'
import type { Assigned, CredentialAsk } from '../../ports/broker.ts'
import type { GatewayContext } from '../deps.ts'
import type { DesiredAssignment, DesiredIndex } from '../desired/desired-index.ts'
import { configureVolumes } from './configure-volumes.ts'
import { type Session, send } from './session.ts'

/** Limit of calls per node and rate-limit window; more calls than a node needs for the containers that it can create. */
const CALLS_IN_WINDOW = 200

export async function answerAgent(
  context: GatewayContext,
  index: DesiredIndex,
  session: Session,
  call: Call,
): Promise<void> {
  session.agentCalls += 1
  const answer =
    session.agentCalls > CALLS_IN_WINDOW
      ? { error: 'too_many_asks' }
      : await relay(context, index, session, call)
  send(session.socket, { type: 'answer', id: call.id, ...answer })
}

async function relay(
  context: GatewayContext,
  index: DesiredIndex,
  session: Session,
  { method, host, assignmentId, attempt, requests }: Call,
): Promise<Partial<Answer>> {
  if (method === 'registry' && host !== undefined) return credentialAnswer(context, index, session, host)
  if (method === 'environment' && assignmentId !== undefined && attempt !== undefined)
    return environmentAnswer(context, index, session, { assignmentId, attempt })
  if (method === 'configure' && requests !== undefined) return configureVolumes(context, session, requests)
  return { error: 'not_answered_here' }
}

async function environmentAnswer(
  { broker }: GatewayContext,
  index: DesiredIndex,
  session: Session,
  { assignmentId, attempt }: { readonly assignmentId: AssignmentId; readonly attempt: string },
): Promise<Partial<Answer>> {
  const assigned = index.assignmentOf(session, assignmentId)
  if (assigned?.assignment.desired !== 'running') return { error: 'not_assigned' }
  const sealed = broker.sealEnvironment({ ...brokerRequest(session, assigned), attempt })
  return sealed.catch((): Partial<Answer> => ({ error: 'broker_unavailable' }))
}

/** Relays a registry credential. The broker's error texts are not relayed, because they may contain secrets. */
async function credentialAnswer(
  { broker }: GatewayContext,
  index: DesiredIndex,
  session: Session,
  host: string,
): Promise<Partial<Answer>> {
  const ask = credentialAsk(index, session, host)
  if (ask === undefined) return { error: 'host_not_in_use' }
  const unavailable: Partial<Answer> = { error: 'credential_unavailable' }
  const answer = await broker.sealCredential(ask).catch(() => unavailable)
  return answer.error === undefined ? answer : unavailable
}

/** A node pulls the images of its containers, and those of the writers that a promotion would start on it. */
function credentialAsk(index: DesiredIndex, session: Session, host: string): CredentialAsk | undefined {
  const assigned = index.assignmentsOf(session).find((each) => pullsFrom(each, host))
  if (assigned !== undefined) return { ...brokerRequest(session, assigned), host }
  const copy = index.copies
    .copiesOf(session)
    .find(({ images = [] }) => images.some((image) => image.startsWith(`${host}/`)))
  const { tenant, nodeId } = session
  return copy && { tenant, nodeId, volume: copy.volume, host }
}

const brokerRequest = (
  { tenant, nodeId }: Session,
  { placement, assignment }: DesiredAssignment,
): Assigned => ({
  tenant,
  nodeId,
  owner: placement.owner,
  assignmentId: assignment.id,
})

function pullsFrom({ placement, assignment }: DesiredAssignment, host: string): boolean {
  const image = placement.templates[assignment.templateHash]?.image
  return assignment.desired === 'running' && image?.startsWith(`${host}/`) === true
}
