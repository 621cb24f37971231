import { existsSync } from 'node:fs'
import { dirname } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { callJson, listMember, textMember } from '../http-json.ts'
import { answersLinearizableRead } from './etcd-admin.ts'
import { isAlive } from './process-record.ts'
import { type EtcdCluster, type EtcdOptions, startEtcd } from './start-etcd.ts'

let cluster: EtcdCluster | undefined
afterEach(() => cluster?.stop())

async function start(options: EtcdOptions = {}): Promise<EtcdCluster> {
  cluster = await startEtcd(options)
  return cluster
}

const encode = (text: string) => Buffer.from(text).toString('base64')
const put = (endpoint: string, key: string, value: string) =>
  callJson(`${endpoint}/v3/kv/put`, { body: { key: encode(key), value: encode(value) } })

async function read(endpoint: string, key: string): Promise<string | undefined> {
  const answer = await callJson(`${endpoint}/v3/kv/range`, { body: { key: encode(key) } })
  const [found] = listMember(answer, 'kvs')
  return found === undefined ? undefined : Buffer.from(textMember(found, 'value'), 'base64').toString()
}

test('one member is ready on return and leaves no process or folder behind', async () => {
  const { endpoints, members, stop } = await start()
  const [endpoint = ''] = endpoints
  const [only] = members
  await put(endpoint, 'a', '1')
  expect(await read(endpoint, 'a')).toBe('1')
  await stop()
  expect(isAlive(only?.pid ?? 0)).toBe(false)
  expect(existsSync(dirname(only?.dataDir ?? ''))).toBe(false)
})

test('a killed member returns with all acknowledged writes', async () => {
  const { endpoints, members } = await start()
  const [endpoint = ''] = endpoints
  await put(endpoint, 'a', 'kept')
  const before = members[0]?.pid
  await members[0]?.restart()
  expect(members[0]?.pid).not.toBe(before)
  expect(await read(endpoint, 'a')).toBe('kept')
})

test('three members survive the loss of their leader, and a wiped member catches up', async () => {
  const { members, findLeader } = await start({ members: 3 })
  const leader = await findLeader()
  await put(leader.endpoint, 'a', 'one')
  leader.pause()
  const successor = await findLeader()
  expect(successor.name).not.toBe(leader.name)
  await put(successor.endpoint, 'b', 'two')
  leader.resume()
  const wiped = members.find((one) => one.name !== successor.name)
  await wiped?.wipeAndReplace()
  for (const one of members) expect(await answersLinearizableRead(one.endpoint, 10_000)).toBe(true)
  expect(await read(wiped?.endpoint ?? '', 'b')).toBe('two')
})
