// What the rules on a body may look at besides the body: numbers, configuration, and for a PUT the record it changes.

import type { DeploymentRecord } from '@holdfast/contract'
import { DEFAULT_LIMITS, type Limits, RESERVED_NAMES, SECRET_NAMESPACES } from '../limits.ts'

export interface AdmissionContext {
  readonly mode: 'create' | 'update'
  readonly limits: Limits
  readonly reservedNames: ReadonlySet<string>
  /** Exact `host:port` (or `host`) entries, as an image reference names them. */
  readonly registries: ReadonlySet<string>
  readonly volumesEnabled: boolean
  /** The names of the regions that this control plane declares (DECISIONS 7). */
  readonly regions: ReadonlySet<string>
  /** The secret namespaces that a vault_path may begin with (DECISIONS 7). */
  readonly namespaces: readonly string[]
  /** The caller may refer to secrets but not send `values` or `generate` (DECISIONS 8). */
  readonly materialForbidden?: boolean
  /** Update: the name in the path; absent when the path held a uid of nothing we know. */
  readonly pathName?: string
  /** Update: the record as GET shows it; absent when there is none, which the facts then refuse. */
  readonly current?: DeploymentRecord
  /** Top-level fields that the caller's role may not send; none yet. DECISIONS 8. */
  readonly forbiddenFields?: ReadonlySet<string>
}

/** A context for a create with the shipped numbers; configuration and the caller override parts of it. */
export function admissionContext(overrides: Partial<AdmissionContext> = {}): AdmissionContext {
  return {
    mode: 'create',
    limits: DEFAULT_LIMITS,
    reservedNames: new Set(RESERVED_NAMES),
    registries: new Set(),
    volumesEnabled: false,
    regions: new Set(),
    namespaces: SECRET_NAMESPACES,
    ...overrides,
  }
}
