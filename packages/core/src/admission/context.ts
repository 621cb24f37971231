// The input of the rules besides the body: limits, configuration, and for an update the current record.

import type { DeploymentRecord } from '@holdfast/contract'
import { DEFAULT_LIMITS, type Limits, RESERVED_NAMES, SECRET_NAMESPACES } from '../limits.ts'

export interface AdmissionContext {
  readonly mode: 'create' | 'update'
  readonly limits: Limits
  readonly reservedNames: ReadonlySet<string>
  /** Exact `host:port` (or `host`) entries, as an image reference names them. */
  readonly registries: ReadonlySet<string>
  readonly volumesEnabled: boolean
  /** Names of the regions that this control plane declares. */
  readonly regions: ReadonlySet<string>
  /** Secret namespaces that a vault_path may begin with. */
  readonly namespaces: readonly string[]
  /** The caller may refer to secrets but not send `values` or `generate`. */
  readonly materialForbidden?: boolean
  /** Update: the name in the path; absent if the path has an unknown uid. */
  readonly pathName?: string
  /** Update: the record as GET returns it; absent if there is none, which the facts reject. */
  readonly current?: DeploymentRecord
  /** Top-level fields that the caller's role may not send; none at the moment. */
  readonly forbiddenFields?: ReadonlySet<string>
}

/** The context of a create with the default limits. Configuration and the caller override parts of it. */
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
