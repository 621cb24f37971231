// All filters, in the order of FILTERS in the contract. docs/checklists/new-filter.md describes how to add a filter.

import type { Filter } from '../refusal.ts'
import { affinity } from './affinity.ts'
import { agentVersion } from './agent-version.ts'
import { antiAffinity } from './anti-affinity.ts'
import { blockedCountry } from './blocked-country.ts'
import { claims } from './claims.ts'
import { controlPlaneNode } from './control-plane-node.ts'
import { cordon } from './cordon.ts'
import { creation } from './creation.ts'
import { diskPressure } from './disk-pressure.ts'
import { engine } from './engine.ts'
import { labelConstraint } from './label-constraint.ts'
import { namedNode } from './named-node.ts'
import { networkNode } from './network-node.ts'
import { quota } from './quota.ts'
import { readiness } from './readiness.ts'
import { residencyCountry } from './residency-country.ts'
import { residencyEnforcement } from './residency-enforcement.ts'
import { residencyRegion } from './residency-region.ts'
import { resources } from './resources.ts'
import { storage } from './storage.ts'
import { volumePrimary } from './volume-primary.ts'

/** The filters on the location of a node. Another filter checks whether residency is enforced. */
export const RESIDENCY_FILTERS: readonly Filter[] = [residencyCountry, residencyRegion, blockedCountry]

export const PLACEMENT_FILTERS: readonly Filter[] = [
  readiness,
  engine,
  diskPressure,
  cordon,
  controlPlaneNode,
  claims,
  agentVersion,
  creation,
  namedNode,
  residencyEnforcement,
  ...RESIDENCY_FILTERS,
  labelConstraint,
  affinity,
  antiAffinity,
  resources,
  volumePrimary,
  networkNode,
  storage,
  quota,
]
