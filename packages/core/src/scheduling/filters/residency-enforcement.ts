// Does this control plane enforce residency at all? Where it is switched off, nothing that demands residency is newly placed,
// also where a node matches; what runs stays. SPEC 2.7, DECISIONS 7.

import type { Refusal } from '@holdfast/contract'
import type { Filter } from '../refusal.ts'

/** The same of every node. A configuration is read when a server starts, and then everything is decided anew. */
const REFUSAL: Refusal = {
  filter: 'residency_enforcement',
  code: 'residency_enforcement_off',
  required: { enforcement: true },
  reported: { enforcement: false },
  fix: 'Switch residency.enforcement on in the configuration of the control plane, or take placement.residency out.',
}

export const residencyEnforcement: Filter = {
  name: 'residency_enforcement',
  curedBy: ['deployment'],
  phrases: { residency_enforcement_off: 'closed while residency is not enforced' },
  keptFor: ({ residency }) => (residency?.enforced === false ? 'off' : ''),
  refuse: ({ residency }) => (residency === undefined || residency.enforced ? undefined : REFUSAL),
}
