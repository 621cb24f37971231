// Observes the members of etcd and of the secrets store on all machines, and the certificates that they present.

import { connect as connectSecure } from 'node:tls'
import type { Config } from '../config/schema.ts'
import { connectMembers, connectUnsealer, readSecretsMembers } from '../connect-engines.ts'
import type { EtcdMember } from '../ports/etcd-members.ts'
import { type Observed, seen, unobserved } from './finding.ts'
import type { ExpiryFacts } from './judge-certificates.ts'
import type { StoreMemberFacts } from './judge-members.ts'

const CALL_MS = 5_000

export interface MembersFacts {
  readonly etcd: Observed<readonly EtcdMember[]>
  /** Undefined: the configuration has no identity that may list the members. */
  readonly secretsStore: Observed<readonly StoreMemberFacts[]> | undefined
  readonly expiries: readonly ExpiryFacts[]
}

export async function gatherMembers(config: Config): Promise<MembersFacts> {
  const [etcd, secretsStore] = await Promise.all([gatherEtcdMembers(config), gatherStoreMembers(config)])
  const etcdUrls = etcd.kind === 'seen' ? etcd.value.flatMap(({ clientUrls }) => clientUrls.slice(0, 1)) : []
  const storeUrls = secretsStore?.kind === 'seen' ? secretsStore.value.map(({ url }) => url) : []
  const secured = [...new Set([...etcdUrls, ...storeUrls])].filter((url) => url.startsWith('https:'))
  const presented = await Promise.all(secured.map(gatherPresented))
  return { etcd, secretsStore, expiries: presented.filter((found) => found !== undefined) }
}

async function gatherEtcdMembers(config: Config): Promise<Observed<readonly EtcdMember[]>> {
  const members = connectMembers(config)
  try {
    return seen(await members.list({ deadlineMs: CALL_MS }))
  } catch (error) {
    return unobserved(error instanceof Error ? error.message : 'unknown error')
  } finally {
    members.close()
  }
}

type Reached = StoreMemberFacts & { readonly url: string }

async function gatherStoreMembers(config: Config): Promise<Observed<readonly Reached[]> | undefined> {
  if (config.secretsStore.api === undefined) return undefined
  const read = await readSecretsMembers(config)
  if (read.kind === 'denied') return unobserved('the policy of the identity api does not allow it')
  if (read.kind === 'unavailable') return unobserved(`the secrets store: ${read.cause}`)
  return seen(
    await Promise.all(
      read.members.map(async ({ name, address, isVoter }) => {
        const url = apiUrl(address, config)
        return { name, isVoter, url, serves: (await gatherStatus(url, config)) === 'unsealed' }
      }),
    ),
  )
}

/** The members know the address of one another's replication; all have the same port for clients. */
function apiUrl(address: string, { secretsStore }: Config): string {
  const url = new URL(secretsStore.address)
  url.hostname = new URL(`https://${address}`).hostname
  return url.origin
}

async function gatherStatus(address: string, config: Config) {
  const store = connectUnsealer({ ...config, secretsStore: { ...config.secretsStore, address } })
  try {
    return await store.status()
  } finally {
    store.close()
  }
}

/** The certificate of a listener; undefined if it does not answer, which the checks of the members report. */
function gatherPresented(url: string): Promise<ExpiryFacts | undefined> {
  const { hostname, port } = new URL(url)
  const host = hostname.replaceAll(/[[\]]/g, '')
  return new Promise((resolve) => {
    // An expired certificate must be seen, so it is not verified; nothing is sent on this connection.
    const socket = connectSecure({ host, port: Number(port), timeout: CALL_MS, rejectUnauthorized: false })
    const end = (found: ExpiryFacts | undefined): void => {
      socket.destroy()
      resolve(found)
    }
    socket.once('error', () => end(undefined))
    socket.once('timeout', () => end(undefined))
    socket.once('secureConnect', () => {
      const expiresAt = Date.parse(socket.getPeerCertificate().valid_to)
      end(Number.isNaN(expiresAt) ? undefined : { path: `of ${url}`, notAfterMs: seen(expiresAt) })
    })
  })
}
