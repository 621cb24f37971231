// The completion candidates at each position of a command line.

import { describe, expect, test } from 'vitest'
import { GLOBAL_OPTIONS } from '../args/global-options.ts'
import { RESOURCE_NAMES } from '../args/resource-names.ts'
import { COMMANDS } from '../commands/index.ts'
import { findResource, RESOURCES } from '../resources/index.ts'
import { candidatesFor } from './candidates.ts'

const at = (...typed: string[]) => candidatesFor(COMMANDS, GLOBAL_OPTIONS, typed)

describe('completion', () => {
  test('offers commands, then the words of a group', () => {
    expect(at('').words).toEqual(expect.arrayContaining(['apply', 'get', 'rollout', 'node']))
    expect(at('rollout', '').words).toEqual(['status', 'history', 'undo', 'restart', 'canary'])
  })
  test('offers the commands that begin with the words of another, and the names for that one', () => {
    expect(at('volume', 'divergences', '')).toEqual({ words: ['download', 'delete'], live: 'volumes' })
    expect(at('volume', 'divergences', 'data', '')).toEqual({ words: [] })
    expect(at('volume', 'recommendations', '').words).toContain('apply')
  })
  test('offers options and their values', () => {
    expect(at('apply', '--').words).toEqual(expect.arrayContaining(['--filename', '--wait', '--verbose']))
    expect(at('get', 'nodes', '-o', '').words).toEqual(['table', 'wide', 'json', 'yaml', 'name'])
    expect(at('--context', '')).toEqual({ words: [], live: 'contexts' })
    expect(at('apply', '-f', '')).toEqual({ words: [] })
  })
  test('offers names of the kind that follows get', () => {
    expect(at('get', 'deployment', '')).toEqual({ words: [], live: 'deployments' })
    expect(at('get', '-o', 'wide', 'nodes', 'n')).toEqual({ words: [], live: 'nodes' })
    expect(at('get', 'quotas', '')).toEqual({ words: [] })
  })
  test('offers argument choices or names from the platform', () => {
    expect(at('get', '').words).toContain('deployments')
    expect(at('describe', '')).toEqual({ words: [], live: 'deployments' })
    expect(at('--verbose', 'node', 'drain', 'n')).toEqual({ words: [], live: 'nodes' })
    expect(at('delete', 'a', 'b', '')).toEqual({ words: [], live: 'deployments' })
    expect(at('describe', 'a', '')).toEqual({ words: [] })
    expect(at('--context', 'b', 'describe', '')).toEqual({ words: [], live: 'deployments' })
  })
})

test('the words that get accepts are those of the resources', () => {
  expect(RESOURCES.flatMap(({ names }) => names)).toEqual([...RESOURCE_NAMES])
  for (const name of RESOURCE_NAMES) expect(findResource(name)).toBeDefined()
})
