// One entry of the code catalogue. It is the only source of facts about a code: HTTP status, texts, reference page, OpenAPI
// example and the part of the product that raises it.

/** The part of the product that raises a code. Some parts do not exist yet; their codes are reserved. */
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

/** A second HTTP status. It is used only where a check asks for it; otherwise the entry's `status` applies. */
export interface AlternativeStatus {
  readonly status: number
  /** Completes the sentence "This status when ...". */
  readonly when: string
}

export interface CatalogueEntry {
  /** HTTP status of the response if this is its first rejection. */
  readonly status: number
  readonly alternativeStatus?: AlternativeStatus
  /** Patterns of the fields that it can name: `environment.<key>`, `secrets[<i>].name`, `name | deployment_id`. */
  readonly field: string
  /** The accepted form. The rule fills in placeholders such as `{max}`. */
  readonly expected: string
  /** The reason in one sentence, with the same placeholders. */
  readonly why: string
  /** Markdown for the reference page: the cause, and after "What to do." the fix. */
  readonly doc: string
  readonly capability: Capability
}

export type CatalogueSection = { readonly [code: string]: CatalogueEntry }

/** Markdown from its lines. An empty line ends a paragraph. */
export const markdown = (...lines: readonly string[]): string => lines.join('\n')
