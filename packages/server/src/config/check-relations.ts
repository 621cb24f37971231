// Checks that the settings agree with each other. Values that are invalid on their own are skipped, so that all faults of
// a configuration are reported at once.

import { isIP } from 'node:net'
import { parseRegistryHost } from '@holdfast/core'
import { classifyAddress } from '../net/address-class.ts'
import { type ConfigFaultKind, quoteReceived } from './config-fault.ts'
import { addFault, type Draft, getValue, isTree, placeOf, type Tree } from './draft.ts'
import { identitiesOf, SERVER_ROLES } from './schema.ts'

export function checkRelations(draft: Draft, needsIdentities = true): void {
  for (const [section, one, other] of [
    ['listen.tls', 'cert', 'key'],
    ['etcd', 'username', 'password'],
    ['etcd.tls', 'cert', 'key'],
  ])
    requireTogether(draft, `${section}.${one}`, `${section}.${other}`)
  checkAnnouncement(draft)
  checkClusterKey(draft)
  checkEtcd(draft)
  checkSecretsStore(draft, needsIdentities)
  checkRegistries(draft)
  checkNumbers(draft)
}

/** Fewest heartbeat intervals until a node is unreachable: one heartbeat may be lost and the next may be late. */
const HEARTBEATS_UNTIL_UNREACHABLE = 3

function checkNumbers(draft: Draft): void {
  const number = (path: string): number => Number(read(draft, path) ?? Number.NaN)
  const unreachable = number('liveness.unreachableSeconds')
  const least = HEARTBEATS_UNTIL_UNREACHABLE * number('liveness.heartbeatSeconds')
  if (unreachable < least)
    reject(
      draft,
      'conflict',
      'liveness.unreachableSeconds',
      unreachable,
      `at least ${least}, three heartbeats`,
    )
  const failed = number('liveness.failedSeconds')
  if (failed <= unreachable) {
    const expected = `more than liveness.unreachableSeconds, ${unreachable}`
    reject(draft, 'conflict', 'liveness.failedSeconds', failed, expected)
  }
  const [headers, request] = [number('listen.headersSeconds'), number('listen.requestSeconds')]
  if (request < headers)
    reject(draft, 'conflict', 'listen.requestSeconds', request, `at least listen.headersSeconds, ${headers}`)
  const [fewest, most] = [number('limits.generateBytesMin'), number('limits.generateBytesMax')]
  if (most < fewest)
    reject(draft, 'conflict', 'limits.generateBytesMax', most, `at least limits.generateBytesMin, ${fewest}`)
}

/** Without a certificate of its own the server has no connection over which nodes could believe an announcement. */
function checkAnnouncement(draft: Draft): void {
  const next = read(draft, 'listen.tls.nextCa')
  if (next !== undefined && read(draft, 'listen.tls.cert') === undefined)
    reject(
      draft,
      'conflict',
      'listen.tls.nextCa',
      String(next),
      'listen.tls.cert and listen.tls.key, or no next authority',
    )
}

function checkEtcd(draft: Draft): void {
  const endpoints = texts(read(draft, 'etcd.endpoints'))
  const secure = isTree(read(draft, 'etcd.tls')) || endpoints[0]?.startsWith('https:') === true
  const expected = secure
    ? 'https://, because etcd.tls is set or the first endpoint uses it'
    : 'http:// as in the first endpoint, or https:// in all'
  endpoints.forEach((endpoint, index) => {
    if (endpoint.startsWith('https:') !== secure)
      reject(draft, 'conflict', `etcd.endpoints[${index}]`, endpoint, expected)
  })
}

/** Checks secrets store identities: api and controllers share one that cannot read secrets; the broker has another. */
function checkSecretsStore(draft: Draft, needsIdentities: boolean): void {
  const [address, ca] = [read(draft, 'secretsStore.address'), read(draft, 'secretsStore.ca')]
  if (typeof ca === 'string' && typeof address === 'string' && address.startsWith('http:'))
    reject(draft, 'conflict', 'secretsStore.ca', ca, 'https:// in secretsStore.address, or no authority')
  const needed = needsIdentities ? identitiesOf(texts(read(draft, 'roles'))) : []
  if (needed.includes('api')) requireIdentity(draft, 'secretsStore.api', 'roles include api or controllers')
  if (needed.includes('broker')) requireIdentity(draft, 'secretsStore.broker', 'roles include broker')
  const apiRole = read(draft, 'secretsStore.api.roleId')
  if (typeof apiRole !== 'string' || apiRole !== read(draft, 'secretsStore.broker.roleId')) return
  const expected = 'an identity other than secretsStore.api, which may not read'
  reject(draft, 'conflict', 'secretsStore.broker.roleId', apiRole, expected)
}

function requireIdentity(draft: Draft, field: string, why: string): void {
  if (read(draft, field) === undefined)
    addFault(draft, 'missing', field, `roleId with secretId or secretIdFile, because ${why}`)
}

function checkRegistries(draft: Draft): void {
  const entries = read(draft, 'registries')
  const seen = new Set<string>()
  for (const [index, entry] of Array.isArray(entries) ? entries.entries() : []) {
    if (!isTree(entry)) continue
    const path = `registries[${index}]`
    checkAddresses(draft, entry, path)
    const host = typeof entry.host === 'string' ? parseRegistryHost(entry.host) : undefined
    if (host === undefined) continue
    if (seen.has(host)) reject(draft, 'duplicate', `${path}.host`, entry.host, 'each registry only once')
    seen.add(host)
  }
}

/** Checks the hosts of a registry: an IP address requires `allowAddress: true`; some IP addresses are never allowed. */
function checkAddresses(draft: Draft, entry: Tree, path: string): void {
  const check = (value: unknown, field: string): void => {
    const host = typeof value === 'string' ? parseRegistryHost(value) : undefined
    const address = host?.replace(/:\d+$/, '').replaceAll(/[[\]]/g, '')
    if (address === undefined || (isIP(address) === 0 && !address.includes(':'))) return
    if (entry.allowAddress !== true)
      reject(draft, 'conflict', field, value, 'a host name, or allowAddress: true in this entry')
    else if (classifyAddress(address) === 'never')
      reject(draft, 'form', field, value, 'an address that a registry can have')
  }
  check(entry.host, `${path}.host`)
  check(entry.endpoint, `${path}.endpoint`)
  const realms = Array.isArray(entry.tokenRealms) ? entry.tokenRealms : []
  realms.forEach((realm: unknown, index) => {
    check(realm, `${path}.tokenRealms[${index}]`)
  })
}

function requireTogether(draft: Draft, one: string, other: string): void {
  const [hasOne, hasOther] = [read(draft, one) !== undefined, read(draft, other) !== undefined]
  if (hasOne === hasOther) return
  const [present, absent] = hasOne ? [one, other] : [other, one]
  addFault(draft, 'missing', absent, `a value, because ${present} is set`, { place: placeOf(draft, present) })
}

/** Requires `cluster.key`, for calls between server processes, if `cluster.url` is set or the broker is separate. */
function checkClusterKey(draft: Draft): void {
  const hasUrl = read(draft, 'cluster.url') !== undefined
  if (read(draft, 'cluster.key') !== undefined || !(hasUrl || hasSeparateBroker(draft))) return
  const why = hasUrl ? 'cluster.url is set' : 'the broker is another process'
  const place = placeOf(draft, hasUrl ? 'cluster.url' : 'roles')
  addFault(draft, 'missing', 'cluster.key', `a value, or cluster.keyFile, because ${why}`, { place })
}

/** Reports whether the broker and the other roles run in separate processes. Returns false if a role is invalid. */
function hasSeparateBroker(draft: Draft): boolean {
  const roles = texts(read(draft, 'roles'))
  const known = new Set(roles.filter((role) => SERVER_ROLES.some((one) => one === role)))
  if (known.size !== roles.length || roles.length === 0) return false
  return roles.includes('broker') !== roles.some((role) => role !== 'broker')
}

function reject(draft: Draft, kind: ConfigFaultKind, field: string, value: unknown, expected: string): void {
  addFault(draft, kind, field, expected, { received: quoteReceived(field, value) })
}

function read(draft: Draft, path: string): unknown {
  return getValue(draft, path.split('.'))
}

function texts(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((element) => typeof element === 'string') : []
}
