// The form of one entry of the code catalogue. Every fact about a code is in its entry and nowhere else: HTTP status,
// reference page, OpenAPI example, `explain`, and who raises it.

/** Which part of the product raises a code. A part that is not built yet is the stated owner of its codes. */
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

/** A second status, which a rule must choose by name; without a choice the entry's `status` stands. */
export interface AlternativeStatus {
  readonly status: number
  /** Completes the sentence "This status when ...". */
  readonly when: string
}

export interface CatalogueEntry {
  /** Of the HTTP answer when this rejection comes first. */
  readonly status: number
  readonly alternativeStatus?: AlternativeStatus
  /** The field or fields it can name, as patterns: `environment.<key>`, `secrets[<i>].name`, `name | deployment_id`. */
  readonly field: string
  /** The accepted form; `{max}` and its like are filled in by the rule. */
  readonly expected: string
  /** The reason, one sentence, same placeholders. */
  readonly why: string
  /** A paragraph or two for the reference page: what leads here and what to do. Markdown. */
  readonly doc: string
  readonly capability: Capability
  readonly source: 'SPEC 7.1' | 'SPEC 7.2' | 'SPEC 7.3' | 'SPEC 7.4' | 'SPEC 7.5' | 'DECISIONS 3'
}

export type CatalogueSection = { readonly [code: string]: CatalogueEntry }

/** Markdown from its lines; an empty line ends a paragraph. */
export const markdown = (...lines: readonly string[]): string => lines.join('\n')
