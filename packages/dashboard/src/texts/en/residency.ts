// Texts of the page of residency.

import { formatCount } from '../format.ts'

export const residencyTexts = {
  title: 'Residency',
  count: (rows: number, wrong: number) =>
    `${formatCount(rows, 'place')}; ${wrong === 0 ? 'every demand is met' : `${wrong} not as demanded`}`,
  deployment: 'Deployment',
  data: 'Data',
  replica: (replica: number) => `replica ${replica}`,
  copy: (volume: string, role: string) => `${volume}, ${role}`,
  nothing: 'no replica has a node',
  demand: 'Demand',
  noDemand: 'none',
  country: 'only',
  region: 'in region',
  blocked: 'never',
  node: 'Node',
  place: 'Country',
  unstated: 'not stated',
  unattested: 'not attested',
  attested: 'Attested',
  isAttested: 'attested',
  attestedAs: (country: string) => `attested as ${country}`,
  yes: 'yes',
  no: 'no',
  meets: 'Met',
  met: 'ok',
  violated: 'NO',
  download: 'Download as CSV',
  file: 'residency.csv',
  emptyTitle: 'This tenant has no deployment yet',
  emptyNext:
    'This page shows in which country each replica and each copy of a volume is, and whether a join token attested it. Create a node that attests its country:',
  emptyCommand: 'holdfast node join-token NAME --country DE',
} as const
