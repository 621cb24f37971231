import { expect, test } from 'vitest'
import { findCommands, type Offered, readTyped } from './find-commands.ts'

const PAGES = [
  { to: '/t/$tenant', label: 'Overview' },
  { to: '/t/$tenant/deployments', label: 'Deployments' },
]
const DEPLOYMENTS = [
  { name: 'report', phase: 'Pending' },
  { name: 'shop', phase: 'Running' },
]
const NODES = [{ id: 'node_1', name: 'acme-1', status: 'ready' }]
const CREATIONS = [{ to: '/t/$tenant/nodes/join', label: 'Join a machine' }]
const find = (text: string, role: Partial<Offered> = {}) =>
  findCommands(
    text,
    { pages: PAGES, creations: CREATIONS, changes: true, ...role },
    { deployments: DEPLOYMENTS, nodes: NODES },
  )
const labels = (text: string): string[] => find(text).map(({ label }) => label)

test('nothing typed offers pages, deployments, nodes and actions', () => {
  expect(labels('').slice(0, 5)).toEqual(['Overview', 'Deployments', 'report', 'shop', 'acme-1'])
  expect(labels('')).toContain('Sign out')
})

test('a part of a name finds the deployment and no other', () => {
  expect(labels('rep')).toEqual(['report', 'Search the reference: rep'])
  expect(labels('REP')[0]).toBe('report')
})

test('why and a name lead to the explanation', () => {
  expect(labels('why rep')).toEqual(['Why: report'])
  expect(labels('why')).toEqual(['Why: report', 'Why: shop'])
})

test('the word of a page and a name lead to that page of the deployment', () => {
  expect(labels('terminal sh')).toEqual(['Terminal: shop'])
  expect(find('logs sh')[0]?.target).toEqual({ kind: 'deployment', name: 'shop', tab: 'logs' })
  expect(find('shop')[0]?.target).toEqual({ kind: 'deployment', name: 'shop', tab: 'why' })
})

test.each(['rotation', 'scaling', 'settings'] as const)('the page %s is found by its word', (tab) => {
  expect(find(`${tab} sh`)[0]?.target).toEqual({ kind: 'deployment', name: 'shop', tab })
})

test('a change and a name lead to its plan, for a role that may change deployments', () => {
  expect(labels('restart sh')).toEqual(['Restart: shop'])
  expect(find('scale sh')[0]?.target).toEqual({ kind: 'plan', name: 'shop', act: 'scale' })
  expect(find('restart sh', { changes: false })).toEqual([])
})

test('what the role may create is found by its words', () => {
  expect(labels('join')[0]).toBe('Join a machine')
  expect(find('join', { creations: [] }).map(({ label }) => label)).toEqual(['Search the reference: join'])
})

test('a node is found by its name and by its id', () => {
  expect(labels('acme')).toEqual(['acme-1', 'Search the reference: acme'])
  const id = 'node_01M7PZRATPQ027T4N7FDP7JW32'
  expect(find(id)[0]?.target).toEqual({ kind: 'node', id })
})

test('an action is found by its words', () => expect(labels('colors: d')[0]).toBe('Colors: Dark'))

test('a code leads to the reference', () =>
  expect(labels('replicas_out_of_range')).toEqual(['Search the reference: replicas_out_of_range']))

test('the server is asked for the name alone', () => {
  expect(readTyped(' why  Report ')).toEqual({ view: 'why', name: 'report' })
  expect(readTyped('')).toEqual({ view: undefined, name: '' })
})
