import type { DeploymentUid, NodeId, ResidencyEntry, VolumeId } from '@holdfast/contract'
import { expect, test } from 'vitest'
import { residencyCsv, residencyRows, showDemand } from './residency-rows.ts'

const place = {
  nodeId: 'node_1' as NodeId,
  node: 'acme-1',
  country: 'DE',
  region: null,
  attested: true,
  holds: true,
}
const ENTRY: ResidencyEntry = {
  deployment: 'orders',
  uid: 'dep_1' as DeploymentUid,
  demand: { country: 'DE', blockedCountries: ['US', 'CN'] },
  holds: false,
  replicas: [{ replica: 1, ...place }],
  copies: [
    {
      volume: 'data',
      volumeId: 'vol_1' as VolumeId,
      role: 'primary',
      ...place,
      country: null,
      attested: false,
      holds: false,
    },
  ],
}

test('each replica and each copy has a row', () => {
  const rows = residencyRows([ENTRY])
  expect(rows.map(({ data, country, attested, holds }) => [data, country, attested, holds])).toEqual([
    ['replica 1', 'DE', true, true],
    ['data, primary', '', false, false],
  ])
})

test('a deployment without a place has a row too', () => {
  const [row] = residencyRows([{ ...ENTRY, replicas: [], copies: [], holds: true }])
  expect([row?.name, row?.data, row?.attested]).toEqual(['orders', 'no replica has a node', undefined])
})

test('a demand is read as a sentence', () => {
  expect(showDemand(ENTRY.demand)).toBe('only DE; never US, CN')
  expect(showDemand({ region: 'eu' })).toBe('in region eu')
  expect(showDemand({})).toBe('none')
})

test('cells of the file are quoted, and none is a formula', () => {
  const [row] = residencyRows([{ ...ENTRY, deployment: '=1+"x"' }])
  const csv = residencyCsv(row === undefined ? [] : [row])
  expect(csv.split('\r\n')).toEqual([
    '"deployment","data","demand","node","country","region","attested","holds"',
    `"'=1+""x""","replica 1","only DE; never US, CN","acme-1","DE","","true","true"`,
    '',
  ])
})
