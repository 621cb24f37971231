// All rejection codes, in the order of the reference pages. Public codes are never renamed, removed or reused.

import { deploymentCodes } from './deployment.ts'
import type { CatalogueEntry, CatalogueSection } from './entry.ts'
import { healthCheckCodes } from './health-check.ts'
import { placementCodes } from './placement.ts'
import { requestCodes } from './request.ts'
import { resourceCodes } from './resources.ts'
import { secretEntryCodes } from './secret-entries.ts'
import { secretSourceCodes } from './secret-sources.ts'
import { volumeCodes } from './volumes.ts'
import { workloadCodes } from './workload.ts'

/** All rejection codes, grouped by the part of a request that they are about. */
export const CATALOGUE_SECTIONS = {
  deployment: deploymentCodes,
  healthCheck: healthCheckCodes,
  secretSources: secretSourceCodes,
  secretEntries: secretEntryCodes,
  placement: placementCodes,
  volumes: volumeCodes,
  request: requestCodes,
  resources: resourceCodes,
  workload: workloadCodes,
} as const satisfies { readonly [section: string]: CatalogueSection }
export type CatalogueSectionName = keyof typeof CATALOGUE_SECTIONS

/** All rejection codes of the named catalogue sections, in order. */
export function codesIn(...sections: readonly CatalogueSectionName[]): Code[] {
  return sections.flatMap((section) => Object.keys(CATALOGUE_SECTIONS[section])).filter(isCode)
}

type Sections = [
  typeof deploymentCodes,
  typeof healthCheckCodes,
  typeof secretSourceCodes,
  typeof secretEntryCodes,
  typeof placementCodes,
  typeof volumeCodes,
  typeof requestCodes,
  typeof resourceCodes,
  typeof workloadCodes,
]
type KeyOfAny<S> = S extends unknown ? keyof S : never
type CodeInTwo<S> = S extends [infer First, ...infer Rest]
  ? (keyof First & KeyOfAny<Rest[number]>) | CodeInTwo<Rest>
  : never
/** Makes it a type error to list one code in two sections; merging the sections would silently drop one of the two. */
type Disjoint = [CodeInTwo<Sections>] extends [never]
  ? CatalogueSection
  : { readonly codeInTwo: CodeInTwo<Sections> }

export const CATALOGUE = {
  ...deploymentCodes,
  ...healthCheckCodes,
  ...secretSourceCodes,
  ...secretEntryCodes,
  ...placementCodes,
  ...volumeCodes,
  ...requestCodes,
  ...resourceCodes,
  ...workloadCodes,
} satisfies Disjoint

export type Code = keyof typeof CATALOGUE

export const isCode = (text: string): text is Code => Object.hasOwn(CATALOGUE, text)

/** Every rejection code, in the order of the catalogue sections. */
export const CODES: readonly Code[] = Object.keys(CATALOGUE).filter(isCode)

export const entryOf = (code: Code): CatalogueEntry => CATALOGUE[code]
