// Creates the network of one document, or shows what the creation would do. A stored network stays as it is.

import type { Client, Failure, Result } from '@holdfast/client'
import type { Alteration, Effects, Network, Warning } from '@holdfast/contract'
import { networkBody } from '@holdfast/manifest'
import type { Prepared } from '../volumes/prepared.ts'

export interface AcceptedNetwork {
  readonly ok: true
  readonly verb: 'created' | 'unchanged'
  readonly network: Network
  readonly alterations: readonly Alteration[]
  readonly warnings: readonly Warning[]
}

export async function applyNetwork(
  client: Client,
  { manifest, network }: Prepared,
): Promise<AcceptedNetwork | { readonly ok: false; readonly failure: Failure }> {
  const before = network?.before
  if (before !== undefined)
    return { ok: true, verb: 'unchanged', network: before, alterations: [], warnings: [] }
  const created = await client.networks.create(networkBody(manifest.value))
  return created.ok ? { ok: true, verb: 'created', ...created.value } : created
}

export interface NetworkDryRun {
  readonly alterations: readonly Alteration[]
  readonly warnings: readonly Warning[]
  readonly result: Network
  /** The effects of the creation; undefined if nothing would change. */
  readonly effects: Effects | undefined
}

export async function planNetworkOnPlatform(
  client: Client,
  { manifest, network }: Prepared,
): Promise<Result<NetworkDryRun>> {
  const before = network?.before
  if (before !== undefined)
    return { ok: true, value: { alterations: [], warnings: [], result: before, effects: undefined } }
  const planned = await client.networks.dryRuns.create(networkBody(manifest.value))
  if (!planned.ok) return planned
  const { alterations, warnings, plan } = planned.value
  return { ok: true, value: { alterations, warnings, result: plan.result.network, effects: plan.effects } }
}
