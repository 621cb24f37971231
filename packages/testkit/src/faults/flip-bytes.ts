// Simulates a disk that silently corrupts data, undetected by the file format: changes the last letter of a given text
// wherever the etcd member's database contains the text.

import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type EtcdMember, waitUntil } from '@holdfast/testkit'

/**
 * Kills the etcd member and changes the text in its database. Waits first until the database contains the text, because
 * otherwise the member would read the unchanged text from its log at restart.
 */
export async function flipInDatabase(member: EtcdMember, text: string): Promise<void> {
  const file = join(member.dataDir, 'member', 'snap', 'db')
  const what = 'the database contains the text'
  await waitUntil(() => readFileSync(file).includes(text), { what, intervalMs: 50 })
  await member.kill()
  const bytes = readFileSync(file)
  for (let at = bytes.indexOf(text); at >= 0; at = bytes.indexOf(text, at + 1)) {
    const last = at + text.length - 1
    bytes[last] = (bytes[last] ?? 0) ^ 1
  }
  writeFileSync(file, bytes)
}

async function askMember({ endpoint }: EtcdMember, call: string, request: object): Promise<unknown> {
  const signal = AbortSignal.timeout(5_000)
  const body = JSON.stringify(request)
  const answer = await fetch(`${endpoint}/v3/maintenance/${call}`, { method: 'POST', body, signal })
  if (!answer.ok) throw new Error(`etcd answered ${answer.status}`)
  return answer.json()
}

/** Hash of all keys of an etcd member up to the given revision. */
export async function hashOf(member: EtcdMember, revision: number): Promise<string> {
  const { hash } = (await askMember(member, 'hashkv', { revision })) as { hash: number | string }
  return String(hash)
}

/** Clears every alarm of all etcd members. */
export async function disarm(member: EtcdMember): Promise<void> {
  const { alarms = [] } = (await askMember(member, 'alarm', { action: 'GET' })) as { alarms?: object[] }
  for (const alarm of alarms) await askMember(member, 'alarm', { action: 'DEACTIVATE', ...alarm })
}
