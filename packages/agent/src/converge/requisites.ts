// Ensures what a container needs before its create: the image, pulled once for all containers that share it, and the
// tenant's network. Both results are cached. A create that lacks one of them, and every failed start, clears the cache.

import type { TenantId } from '@holdfast/contract'
import type { Logger } from 'pino'
import { redact } from '../observe/redact.ts'
import { type Engine, EngineError } from '../ports/engine.ts'
import type { RegistryCredential } from '../ports/session.ts'
import { ensureTenantNetwork, type NetworkEngine } from '../routing/tenant-network.ts'
import { createLimit } from './limit.ts'

const MAX_PULLS = 3

export interface Requisites {
  /** Ensures that the image is on the node. Calls `onPull` if the image is missing and a pull begins. */
  ensureImage(reference: string, onPull: () => void): Promise<void>
  ensureNetwork(): Promise<void>
  /** Forgets that the image is on the node, and that the network is. */
  forget(reference: string): void
}

export interface RequisiteDeps {
  readonly engine: Pick<Engine, 'hasImage' | 'pullImage'> & NetworkEngine
  readonly tenant: TenantId
  registryCredential(host: string): Promise<RegistryCredential | undefined>
  /** Called with the subnet of the tenant's network. Undefined: Docker chooses the containers' addresses. */
  onNetwork(subnet: string | undefined): void
  /** Called when this agent begins to pull an image, and when it has pulled it. */
  onPull(reference: string): void
  /** Called when a pull has failed, perhaps for lack of space. */
  onPullFailed(): void
  readonly log: Logger
}

export function createRequisites(deps: RequisiteDeps): Requisites {
  const images = new Map<string, { ready: Promise<void>; pulling: boolean; onPull: (() => void)[] }>()
  const limit = createLimit(MAX_PULLS)
  let network: Promise<void> | undefined
  const fetchImage = async (reference: string): Promise<void> => {
    if (await deps.engine.hasImage(reference)) return
    const entry = images.get(reference)
    if (entry !== undefined) {
      entry.pulling = true
      for (const notify of entry.onPull) notify()
    }
    await limit(() => pull(deps, reference))
  }
  return {
    ensureImage(reference, onPull) {
      const known = images.get(reference)
      if (known?.pulling === true) onPull()
      known?.onPull.push(onPull)
      if (known !== undefined) return known.ready
      const entry = { ready: Promise.resolve(), pulling: false, onPull: [onPull] }
      images.set(reference, entry)
      entry.ready = fetchImage(reference).then(
        () => {
          entry.pulling = false
          entry.onPull = []
        },
        (error: unknown) => {
          images.delete(reference)
          throw error
        },
      )
      return entry.ready
    },
    ensureNetwork() {
      network ??= ensureNetwork(deps).catch((error: unknown) => {
        network = undefined
        throw error
      })
      return network
    },
    forget(reference) {
      images.delete(reference)
      network = undefined
    },
  }
}

async function pull(deps: RequisiteDeps, reference: string): Promise<void> {
  deps.onPull(reference)
  try {
    await pullWithCredential(deps, reference)
    deps.onPull(reference)
  } catch (error) {
    deps.onPullFailed()
    throw error
  }
}

async function pullWithCredential(deps: RequisiteDeps, reference: string): Promise<void> {
  const host = reference.slice(0, Math.max(0, reference.indexOf('/')))
  const credential = await deps.registryCredential(host)
  try {
    await deps.engine.pullImage(reference, credential && { ...credential, host })
  } catch (error) {
    if (!(error instanceof EngineError) || credential === undefined) throw error
    // The cause of a failed pull is reported, and must not quote the credential.
    const given = { text: error.message, isCut: true }
    throw new EngineError(error.fault, redact(given, [credential.password]))
  }
}

async function ensureNetwork({ engine, tenant, onNetwork, log }: RequisiteDeps): Promise<void> {
  onNetwork(await ensureTenantNetwork(engine, tenant, log))
}
