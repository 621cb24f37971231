// The calls that bring a secrets store into service: its seal status, initialization, unsealing, and the revocation of an
// operator's token. They need no identity; OpenBao and Vault share them.

import { type Secret, secret } from '../../ports/secret.ts'
import type { StoreKeys, StoreUnsealer } from '../../ports/store-unsealer.ts'
import { type CallOutcome, callStore, member, type StoreAddress, type StoreCall } from './store-call.ts'

/** Initialization and unsealing of a store write to its disk. */
const DEADLINE_MS = 15_000
/** A store that does not run refuses at once, so only one that hangs takes this long. */
const STATUS_MS = 10_000

export function createStoreUnsealer(address: StoreAddress): StoreUnsealer {
  const send = (call: Omit<StoreCall, 'signal'>, token?: Secret, deadlineMs = DEADLINE_MS) =>
    callStore(address, { ...call, signal: AbortSignal.timeout(deadlineMs) }, token)
  return {
    async status() {
      const answer = await send({ method: 'GET', path: 'sys/seal-status' }, undefined, STATUS_MS)
      if (answer.kind !== 'ok') return undefined
      if (member(answer.body, 'initialized') !== true) return 'empty'
      return member(answer.body, 'sealed') === false ? 'unsealed' : 'sealed'
    },
    async initialize() {
      const body = JSON.stringify({ secret_shares: 1, secret_threshold: 1 })
      return keysOf(await send({ method: 'PUT', path: 'sys/init', body }))
    },
    async join(leader, ca) {
      const body = JSON.stringify({ leader_api_addr: leader, leader_ca_cert: ca })
      const answer = await send({ method: 'POST', path: 'sys/storage/raft/join', body })
      return answer.kind === 'ok' && member(answer.body, 'joined') === true
    },
    async unseal(key) {
      const body = JSON.stringify({ key: key.reveal() })
      const answer = await send({ method: 'PUT', path: 'sys/unseal', body })
      return answer.kind === 'ok'
    },
    async isServing() {
      const answer = await send({ method: 'GET', path: 'sys/leader' }, undefined, STATUS_MS)
      if (answer.kind !== 'ok') return false
      const leader = member(answer.body, 'leader_address')
      if (member(answer.body, 'is_self') === true) return true
      // A standby forwards requests. Its own address is that of an earlier term, in which it was the active member.
      return (
        typeof leader === 'string' && leader !== '' && new URL(leader).hostname !== address.origin.hostname
      )
    },
    async revoke(token) {
      const answer = await send({ method: 'POST', path: 'auth/token/revoke-self' }, token)
      // The store denies calls with a token that is already revoked.
      return answer.kind === 'ok' || answer.kind === 'denied'
    },
    close: () => address.origin.agent.destroy(),
  }
}

function keysOf(answer: CallOutcome): StoreKeys | undefined {
  if (answer.kind !== 'ok') return undefined
  const keys = member(answer.body, 'keys_base64')
  const key: unknown = Array.isArray(keys) ? keys[0] : undefined
  const token = member(answer.body, 'root_token')
  if (typeof key !== 'string' || typeof token !== 'string') return undefined
  return { unsealKey: secret(key), operatorToken: secret(token) }
}
