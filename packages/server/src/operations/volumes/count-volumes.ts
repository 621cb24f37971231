// Volumes, replicas and pools of all tenants, counted for the metrics. Every phase and state is listed, also with 0: a
// series that disappears cannot raise an alert.

import { COPY_STATES, VOLUME_PHASES } from '@holdfast/contract'
import { nodes, tenants, volumes } from '../../store/records.ts'
import type { Store } from '../../store/store.ts'

export interface VolumeCounts {
  readonly byPhase: ReadonlyMap<string, number>
  /** Replicas by their state, as the primaries last reported them. */
  readonly replicasByState: ReadonlyMap<string, number>
  readonly poolBytes: { readonly total: number; readonly used: number }
}

export function countVolumes(store: Pick<Store, 'list'>): VolumeCounts {
  const byPhase = new Map<string, number>(VOLUME_PHASES.map((phase) => [phase, 0]))
  const replicasByState = new Map<string, number>(COPY_STATES.map((state) => [state, 0]))
  const poolBytes = { total: 0, used: 0 }
  const increase = (counts: Map<string, number>, key: string): void =>
    void counts.set(key, (counts.get(key) ?? 0) + 1)
  for (const { record: tenant } of store.list(tenants)) {
    for (const { record } of store.list(volumes, tenant.id)) {
      increase(byPhase, record.phase)
      for (const { role, state } of record.copies) if (role === 'replica') increase(replicasByState, state)
    }
    for (const { record } of store.list(nodes, tenant.id)) {
      poolBytes.total += record.storage?.poolBytes ?? 0
      poolBytes.used += record.storage?.usedBytes ?? 0
    }
  }
  return { byPhase, replicasByState, poolBytes }
}
