// A document that is prepared for the platform: names of nodes are ids, and its faults and its stored record are known.

import type { Json, Network, Rejection, Volume } from '@holdfast/contract'
import type { DocumentKind, Manifest } from '@holdfast/manifest'
import type { VolumePlan } from './plan-volume.ts'

export interface Prepared {
  /** The document. Names of nodes are replaced by ids. */
  readonly manifest: Manifest
  readonly kind: DocumentKind
  /** The document as the platform judges it, without mounts of volumes that are unknown or not Ready. */
  readonly judged: Json
  /** The volumes of new mounts that are not Ready yet, as the document refers to them. */
  readonly awaits: readonly string[]
  /** Faults that the platform cannot find: unknown names, and changes that no request makes. */
  readonly faults: readonly Rejection[]
  /** The change that applying a volume makes. */
  readonly plan?: VolumePlan
  /** The stored volume of a document of kind Volume. */
  readonly before?: Volume | undefined
  /** The stored network of a document of kind Network. */
  readonly network?: { readonly before: Network | undefined }
}
