// What an agent may ask: the tenant's credential for a registry from which this node has an image to pull, and for no
// other. It leaves sealed to the node's key. DECISIONS 8, SAFETY 2 row 25.

import type { Answer, Call } from '@holdfast/contract'
import { nodes } from '../store/records.ts'
import { inTenant } from '../store/transaction.ts'
import type { Running } from './deps.ts'
import type { DesiredIndex } from './desired-index.ts'
import { seal } from './seal.ts'
import { type Session, send } from './session.ts'

export async function answerAgent(
  running: Running,
  index: DesiredIndex,
  session: Session,
  call: Call,
): Promise<void> {
  const answer = await registryAnswer(running, index, session, call).catch((): Partial<Answer> => {
    // The cause may hold what must not be told; the broker has logged it.
    return { error: 'credential_unavailable' }
  })
  send(session.socket, { type: 'answer', id: call.id, ...answer })
}

async function registryAnswer(
  { store, registryCredential }: Running,
  index: DesiredIndex,
  session: Session,
  { method, host }: Call,
): Promise<Partial<Answer>> {
  if (method !== 'registry' || host === undefined) return { error: 'not_answered_here' }
  if (!pullsFrom(index, session, host)) return { error: 'host_not_in_use' }
  const node = store.get(inTenant(session.tenant, nodes, session.nodeId))?.record
  if (node === undefined) return { error: 'credential_unavailable' }
  const credential = await registryCredential(session.tenant, host)
  if (credential === undefined) return {}
  const { username, password } = credential
  return {
    sealed: seal(node.encryptionKey, JSON.stringify({ host, username, password: password.reveal() })),
  }
}

function pullsFrom(index: DesiredIndex, session: Session, host: string): boolean {
  return index
    .wishesOf(session)
    .some(
      ({ placement, assignment }) =>
        assignment.desired === 'running' &&
        placement.templates[assignment.templateHash]?.image.startsWith(`${host}/`),
    )
}
