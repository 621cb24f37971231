// Reads the members of the secrets store. The token of the question is revoked afterwards.

import type { StoreMember, StoreMembersRead } from '../../ports/store-members.ts'
import type { SecretsStoreClient } from './secrets-store-client.ts'
import { member, unavailable } from './store-call.ts'

export function readStoreMembers(client: SecretsStoreClient): Promise<StoreMembersRead> {
  return client.within(async (signal) => {
    const answer = await client.call({ method: 'GET', path: 'sys/storage/raft/configuration', signal })
    if (answer.kind === 'ok' || answer.kind === 'denied')
      await client.call({ method: 'POST', path: 'auth/token/revoke-self', signal })
    if (answer.kind === 'denied' || answer.kind === 'unavailable') return answer
    // The store of this address keeps its data elsewhere.
    if (answer.kind === 'refused' || answer.kind === 'absent') return { kind: 'members', members: [] }
    const servers = member(answer.body, 'data', 'config', 'servers')
    if (!Array.isArray(servers)) return unavailable('answer_invalid', 'no')
    return { kind: 'members', members: servers.flatMap(decodeMember) }
  })
}

function decodeMember(server: unknown): StoreMember[] {
  const [name, address, isVoter] = ['node_id', 'address', 'voter'].map((key) => member(server, key))
  if (typeof name !== 'string' || typeof address !== 'string') return []
  return [{ name, address, isVoter: isVoter === true }]
}
