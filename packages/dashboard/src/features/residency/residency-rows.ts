// The residency report as rows, one for each place, and as a file.

import type { ResidencyDemand, ResidencyEntry } from '@holdfast/contract'
import { residencyTexts as words } from '../../texts/en/residency.ts'

export interface ResidencyRow {
  readonly key: string
  readonly name: string
  /** Which replica, or which copy of which volume. */
  readonly data: string
  readonly demand: string
  readonly node: string
  readonly country: string
  readonly region: string
  /** Undefined for a deployment without a place. */
  readonly attested: boolean | undefined
  readonly holds: boolean
}

export const residencyRows = (entries: readonly ResidencyEntry[]): ResidencyRow[] => entries.flatMap(rowsOf)

function rowsOf({ deployment: name, uid, demand, holds, replicas, copies }: ResidencyEntry): ResidencyRow[] {
  const common = { name, demand: showDemand(demand) }
  const places = [
    ...replicas.map((place) => ({ ...place, data: words.replica(place.replica) })),
    ...copies.map((place) => ({ ...place, data: words.copy(place.volume, place.role) })),
  ]
  if (places.length === 0) {
    const nowhere = { node: '', country: '', region: '', attested: undefined, holds }
    return [{ ...common, ...nowhere, key: uid, data: words.nothing }]
  }
  return places.map((place) => ({
    ...common,
    key: `${uid} ${place.data} ${place.nodeId}`,
    data: place.data,
    node: place.node,
    country: place.country ?? '',
    region: place.region ?? '',
    attested: place.attested,
    holds: place.holds,
  }))
}

export function showDemand({ country, region, blockedCountries = [] }: ResidencyDemand): string {
  const parts = [
    ...(country === undefined ? [] : [`${words.country} ${country}`]),
    ...(region === undefined ? [] : [`${words.region} ${region}`]),
    ...(blockedCountries.length === 0 ? [] : [`${words.blocked} ${blockedCountries.join(', ')}`]),
  ]
  return parts.length === 0 ? words.noDemand : parts.join('; ')
}

const HEADER = ['deployment', 'data', 'demand', 'node', 'country', 'region', 'attested', 'holds']

/** A file for spreadsheets. Every cell is quoted, and a line ends as RFC 4180 has it. */
export const residencyCsv = (rows: readonly ResidencyRow[]): string =>
  [HEADER, ...rows.map(cellsOf)].map((cells) => `${cells.map(quote).join(',')}\r\n`).join('')

const cellsOf = ({ name, data, demand, node, country, region, attested, holds }: ResidencyRow): string[] => [
  name,
  data,
  demand,
  node,
  country,
  region,
  attested === undefined ? '' : String(attested),
  String(holds),
]

/** A spreadsheet would compute a cell that begins with one of these signs. */
const FORMULA = /^[=+\-@\t\r]/

const quote = (cell: string): string => `"${(FORMULA.test(cell) ? `'${cell}` : cell).replaceAll('"', '""')}"`
