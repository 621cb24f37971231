// The filters, in the order in which the contract's FILTERS tells them. A new one is one file here, one line in the list,
// and its name in the contract: volume_primary before quota. What it must know of the world comes with the facts, what it
// must know of the deployment with the workload. If its answer depends on the node's record alone, `keptFor` names all that
// it reads of the workload, and the answer is kept; without `keptFor` it is asked at every decision, which is always right
// and slower.

import type { Filter } from '../refusal.ts'
import { affinity } from './affinity.ts'
import { antiAffinity } from './anti-affinity.ts'
import { blockedCountry } from './blocked-country.ts'
import { claims } from './claims.ts'
import { controlPlaneNode } from './control-plane-node.ts'
import { cordon } from './cordon.ts'
import { labelConstraint } from './label-constraint.ts'
import { namedNode } from './named-node.ts'
import { quota } from './quota.ts'
import { readiness } from './readiness.ts'
import { residencyCountry } from './residency-country.ts'
import { residencyEnforcement } from './residency-enforcement.ts'
import { residencyRegion } from './residency-region.ts'
import { resources } from './resources.ts'

/** Whether the node stands where the deployment may be; whether that is enforced is another question. */
export const RESIDENCY_FILTERS: readonly Filter[] = [residencyCountry, residencyRegion, blockedCountry]

export const PLACEMENT_FILTERS: readonly Filter[] = [
  readiness,
  cordon,
  controlPlaneNode,
  claims,
  namedNode,
  residencyEnforcement,
  ...RESIDENCY_FILTERS,
  labelConstraint,
  affinity,
  antiAffinity,
  resources,
  quota,
]
