// Do the settings agree with each other? Each check looks at values that are sound by themselves and says nothing about
// those that are not, so that all faults of a configuration can be told at once.

import { isIP } from 'node:net'
import { parseRegistryHost } from '@holdfast/core'
import { classifyAddress } from '../net/address-class.ts'
import { quoteReceived } from './config-fault.ts'
import { addFault, type Draft, getValue, isTree, placeOf } from './draft.ts'
import { SERVER_ROLES } from './schema.ts'

export function checkRelations(draft: Draft, needsIdentities = true): void {
  requireTogether(draft, 'listen.tls', 'cert', 'key')
  requireClusterKey(draft)
  checkEtcd(draft)
  checkSecretsStore(draft)
  checkIdentities(draft, needsIdentities)
  checkRegistries(draft)
  checkLiveness(draft)
  checkGenerated(draft)
}

const HEARTBEATS_UNTIL_UNREACHABLE = 3

function checkLiveness(draft: Draft): void {
  const [heartbeat, unreachable, failed] = ['heartbeatSeconds', 'unreachableSeconds', 'failedSeconds'].map(
    (name) => Number(read(draft, `liveness.${name}`)),
  )
  if (heartbeat === undefined || unreachable === undefined || failed === undefined) return
  const least = HEARTBEATS_UNTIL_UNREACHABLE * heartbeat
  if (unreachable < least)
    conflict(draft, 'liveness.unreachableSeconds', unreachable, `at least ${least}, three beats`)
  if (failed <= unreachable)
    conflict(draft, 'liveness.failedSeconds', failed, `more than liveness.unreachableSeconds, ${unreachable}`)
}

function checkGenerated(draft: Draft): void {
  const [least, most] = ['Min', 'Max'].map((end) => Number(read(draft, `limits.generateBytes${end}`)))
  if (least === undefined || most === undefined || most >= least) return
  conflict(draft, 'limits.generateBytesMax', most, `at least limits.generateBytesMin, ${least}`)
}

function checkEtcd(draft: Draft): void {
  requireTogether(draft, 'etcd', 'username', 'password')
  requireTogether(draft, 'etcd.tls', 'cert', 'key')
  const tls = read(draft, 'etcd.tls')
  const endpoints = texts(read(draft, 'etcd.endpoints'))
  const secure = isTree(tls) || endpoints[0]?.startsWith('https:') === true
  endpoints.forEach((endpoint, index) => {
    if (endpoint.startsWith('https:') === secure) return
    const expected = secure
      ? 'https:// as the other settings of etcd ask for'
      : 'http:// as the first endpoint has, or https:// for all'
    conflict(draft, `etcd.endpoints[${index}]`, endpoint, expected)
  })
}

/** NOTE api and controllers share an identity that writes and destroys; only the broker's may read. DECISIONS 8. */
function checkIdentities(draft: Draft, needed: boolean): void {
  const roles = needed ? texts(read(draft, 'roles')) : []
  const needsApi = roles.includes('api') || roles.includes('controllers')
  if (needsApi) requireIdentity(draft, 'api', 'api and controllers are among the roles')
  if (roles.includes('broker')) requireIdentity(draft, 'broker', 'broker is among the roles')
  const apiRole = read(draft, 'secretsStore.api.roleId')
  if (typeof apiRole === 'string' && apiRole === read(draft, 'secretsStore.broker.roleId')) {
    const expected = 'an identity other than that of secretsStore.api, which may not read'
    conflict(draft, 'secretsStore.broker.roleId', apiRole, expected)
  }
}

function checkSecretsStore(draft: Draft): void {
  const address = read(draft, 'secretsStore.address')
  const ca = read(draft, 'secretsStore.ca')
  if (typeof ca !== 'string' || typeof address !== 'string' || !address.startsWith('http:')) return
  conflict(draft, 'secretsStore.ca', ca, 'https:// in secretsStore.address, or no authority')
}

function checkRegistries(draft: Draft): void {
  const entries = read(draft, 'registries')
  if (!Array.isArray(entries)) return
  const seen = new Set<string>()
  entries.forEach((entry: unknown, index) => {
    if (!isTree(entry)) return
    const path = `registries[${index}]`
    checkAddresses(draft, entry, path)
    const host = typeof entry.host === 'string' ? parseRegistryHost(entry.host) : undefined
    if (host === undefined) return
    if (seen.has(host)) refuseHost(draft, 'duplicate', `${path}.host`, entry.host, 'each registry once')
    seen.add(host)
  })
}

/** An address is dialled only where the entry says so, and some addresses never are. SAFETY 2 row 9. */
function checkAddresses(draft: Draft, entry: { readonly [key: string]: unknown }, path: string): void {
  const allowed = entry.allowAddress === true
  checkAddress(draft, entry.host, `${path}.host`, allowed)
  checkAddress(draft, entry.endpoint, `${path}.endpoint`, allowed)
  const realms = Array.isArray(entry.tokenRealms) ? entry.tokenRealms : []
  realms.forEach((realm: unknown, index) => {
    checkAddress(draft, realm, `${path}.tokenRealms[${index}]`, allowed)
  })
}

function checkAddress(draft: Draft, value: unknown, path: string, allowed: boolean): void {
  const host = typeof value === 'string' ? parseRegistryHost(value) : undefined
  const address = host?.replace(/:\d+$/, '').replaceAll(/[[\]]/g, '')
  if (address === undefined || (isIP(address) === 0 && !address.includes(':'))) return
  if (!allowed) refuseHost(draft, 'conflict', path, value, 'a host name, or allowAddress: true in this entry')
  else if (classifyAddress(address) === 'never') {
    refuseHost(draft, 'form', path, value, 'an address that can be a registry')
  }
}

function requireTogether(draft: Draft, section: string, one: string, other: string): void {
  const [first, second] = [`${section}.${one}`, `${section}.${other}`]
  const [has, hasOther] = [read(draft, first) !== undefined, read(draft, second) !== undefined]
  if (has === hasOther) return
  const [present, absent] = has ? [first, second] : [second, first]
  const fault = {
    kind: 'missing',
    field: absent,
    received: '',
    expected: `a value, since ${present} has one`,
  } as const
  addFault(draft, placeOf(draft, present), fault)
}

/** A key alone stands: the others then use the public address. */
function requireClusterKey(draft: Draft): void {
  if (read(draft, 'cluster.key') !== undefined) return
  const hasUrl = read(draft, 'cluster.url') !== undefined
  if (!hasUrl && !isBrokerApart(texts(read(draft, 'roles')))) return
  const why = hasUrl ? 'cluster.url has one' : 'the broker is another process than those that ask it'
  addFault(draft, placeOf(draft, hasUrl ? 'cluster.url' : 'roles'), {
    kind: 'missing',
    field: 'cluster.key',
    received: '',
    expected: `a value, or cluster.keyFile, since ${why}`,
  })
}

function isBrokerApart(roles: readonly string[]): boolean {
  const sound =
    new Set(roles).size === roles.length && roles.every((role) => SERVER_ROLES.some((one) => one === role))
  const asks = roles.some((role) => role !== 'broker')
  return sound && roles.length > 0 && roles.includes('broker') !== asks
}

function requireIdentity(draft: Draft, who: 'api' | 'broker', why: string): void {
  const field = `secretsStore.${who}`
  if (read(draft, field) !== undefined) return
  const expected = `roleId with secretId or secretIdFile, since ${why}`
  addFault(draft, placeOf(draft, field), { kind: 'missing', field, received: '', expected })
}

function conflict(draft: Draft, field: string, value: unknown, expected: string): void {
  refuseHost(draft, 'conflict', field, value, expected)
}

function refuseHost(
  draft: Draft,
  kind: 'conflict' | 'duplicate' | 'form',
  field: string,
  value: unknown,
  expected: string,
): void {
  addFault(draft, placeOf(draft, field), { kind, field, received: quoteReceived(field, value), expected })
}

function read(draft: Draft, path: string): unknown {
  return getValue(draft, path.split('.'))
}

function texts(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((element) => typeof element === 'string') : []
}
