// The input of the admission rules besides the body: limits, configuration, and for an update the current record.

import type { DeploymentRecord } from '@holdfast/contract'
import { DEFAULT_LIMITS, type Limits, RESERVED_NAMES, SECRET_NAMESPACES } from '../limits.ts'

export interface AdmissionContext {
  readonly mode: 'create' | 'update'
  readonly limits: Limits
  readonly reservedNames: ReadonlySet<string>
  /** Allowed registries, each as `host:port` or `host`, exactly as an image reference names the registry. */
  readonly registries: ReadonlySet<string>
  readonly volumesEnabled: boolean
  /** Names of the regions that this control plane declares. */
  readonly regions: ReadonlySet<string>
  /** Namespaces of secrets with which a vault_path may begin. */
  readonly namespaces: readonly string[]
  /** True if the caller may refer to secrets but not send `values` or `generate`. */
  readonly materialForbidden?: boolean
  /** For an update: the deployment name in the URL path; absent if the path contains an unknown uid. */
  readonly pathName?: string
  /** For an update: the record as GET returns it; absent if there is no record, which the fact checks reject. */
  readonly current?: DeploymentRecord
  /** Top-level fields that the caller's role may not send. At present no role has such fields. */
  readonly forbiddenFields?: ReadonlySet<string>
}

/** The admission context of a create with the default limits. The overrides replace parts of the context. */
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
