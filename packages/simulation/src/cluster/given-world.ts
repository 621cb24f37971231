// The control plane's configuration in a simulation: the settings of the script, and defaults for the rest.

import type { ResidencyRules } from '@holdfast/contract'
import { parseImageReference } from '@holdfast/core'
import { SHIPPED_REGIONS } from '@holdfast/server/config/shipped-regions'
import { DEFAULT_TIMES } from '@holdfast/server/gateway/timings'
import { LIVENESS_CHECK_MS } from '@holdfast/server/liveness/watch-silent-nodes'
import { LEADERSHIP_TIMINGS } from '@holdfast/server/loops/leadership/lead-shards'
import type { LeadershipTimings } from '@holdfast/server/loops/leadership/leadership-state'
import type { Script } from '../script/script.ts'

export const DEFAULT_IMAGE = 'registry.example.com/simulated/app:1.0'
const DEFAULT_SERVERS = ['a', 'b']

export const serversOf = ({ cluster }: Script): readonly string[] => cluster.servers ?? DEFAULT_SERVERS

export function residencyOf({ cluster }: Script): ResidencyRules {
  const given = Object.entries(cluster.regions ?? {}).map(([name, countries]) => [name, [...countries]])
  return {
    enforcement: cluster.residencyEnforced ?? true,
    regions: { ...SHIPPED_REGIONS, ...Object.fromEntries(given) },
  }
}

/** Volumes are enabled if a node of the script has a storage pool. */
export const hasVolumes = ({ cluster }: Pick<Script, 'cluster'>): boolean =>
  cluster.nodes.some(({ poolBytes }) => poolBytes !== undefined)

/** The controller of networks runs if a step of the script creates one. */
export const usesNetworks = ({ steps }: Pick<Script, 'steps'>): boolean =>
  steps.some((step) => step.do === 'network')

/** Image registries that the script names. All of them are allowed and reachable in the simulation. */
export function registriesOf({ steps }: Script): ReadonlySet<string> {
  const images = steps.flatMap((step) =>
    step.do === 'apply' || step.do === 'job' ? [step.spec?.['image'] ?? DEFAULT_IMAGE] : [],
  )
  const hosts = images.flatMap((image) => parseImageReference(String(image))?.host ?? [])
  return new Set(hosts)
}

/** How often servers run their periodic work. */
export interface Pace {
  readonly leadership: LeadershipTimings
  readonly sweepMs: number
  readonly silenceLookMs: number
  /** Shortest period of periodic work in virtual milliseconds; shorter interval timers are extended, except polls. */
  readonly coarseMs: number
}

const COARSE: Pace = {
  leadership: { heartbeatMs: 6_000, silentMs: 24_000, lagMs: LEADERSHIP_TIMINGS.lagMs, checkMs: 3_000 },
  sweepMs: 2_000,
  silenceLookMs: 2_000,
  coarseMs: 2_000,
}

const TRUE: Pace = {
  leadership: LEADERSHIP_TIMINGS,
  sweepMs: DEFAULT_TIMES.sweepMs,
  silenceLookMs: LIVENESS_CHECK_MS,
  coarseMs: 0,
}

export const paceOf = ({ pace = 'true' }: Script): Pace => (pace === 'coarse' ? COARSE : TRUE)
