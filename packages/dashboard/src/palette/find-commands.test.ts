import { expect, test } from 'vitest'
import { findCommands, readTyped } from './find-commands.ts'

const PAGES = [
  { to: '/t/$tenant', label: 'Overview' },
  { to: '/t/$tenant/deployments', label: 'Deployments' },
]
const DEPLOYMENTS = [
  { name: 'report', phase: 'Pending' },
  { name: 'shop', phase: 'Running' },
]
const labels = (text: string): string[] => findCommands(text, PAGES, DEPLOYMENTS).map(({ label }) => label)

test('nothing typed offers pages, deployments and actions', () => {
  expect(labels('').slice(0, 4)).toEqual(['Overview', 'Deployments', 'report', 'shop'])
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

test('an action is found by its words', () => expect(labels('colors: d')[0]).toBe('Colors: Dark'))

test('a code leads to the reference', () =>
  expect(labels('replicas_out_of_range')).toEqual(['Search the reference: replicas_out_of_range']))

test('the server is asked for the name alone', () => {
  expect(readTyped(' why  Report ')).toEqual({ asksWhy: true, name: 'report' })
  expect(readTyped('')).toEqual({ asksWhy: false, name: '' })
})
