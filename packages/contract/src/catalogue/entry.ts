// One entry of the error catalogue. The entry is the only source of facts about a code: HTTP status, texts, reference
// page, OpenAPI example and the part of the product that raises the code.

/** The part of the product that raises an error code. Codes of parts that do not exist yet are reserved. */
export type Capability =
  | 'http'
  | 'tenancy'
  | 'deployments'
  | 'secrets'
  | 'placement'
  | 'nodes'
  | 'networks'
  | 'jobs'
  | 'volumes'
  | 'recommendations'
  | 'routes'
  | 'rollouts'
  | 'scaling'
  | 'backups'

/** A second HTTP status of an error code, used only where a check selects it instead of `status`. */
export interface AlternativeStatus {
  readonly status: number
  /** Text that completes the sentence "This status when ...". */
  readonly when: string
}

export interface CatalogueEntry {
  /** HTTP status of a response whose first rejection has this code. */
  readonly status: number
  readonly alternativeStatus?: AlternativeStatus
  /** The fields at which the code can occur: `environment.<key>`, `secrets[<i>].name`, `name | deployment_id`. */
  readonly field: string
  /** The accepted form of the rejected value. Placeholders such as `{max}` are filled in for each rejection. */
  readonly expected: string
  /** The reason for the rejection in one sentence. It may contain placeholders such as `{max}`. */
  readonly why: string
  /** Markdown for the code's reference page: the cause, and after "What to do." the fix. */
  readonly doc: string
  readonly capability: Capability
}

export type CatalogueSection = { readonly [code: string]: CatalogueEntry }

/** Joins lines into Markdown text. An empty line ends a paragraph. */
export const markdown = (...lines: readonly string[]): string => lines.join('\n')
