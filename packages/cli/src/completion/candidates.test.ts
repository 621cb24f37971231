// What a shell is offered at each place.

import { describe, expect, test } from 'vitest'
import { GLOBAL_OPTIONS } from '../args/global-options.ts'
import { RESOURCE_NAMES } from '../args/resource-names.ts'
import { COMMANDS } from '../commands/index.ts'
import { findResource, RESOURCES } from '../resources/index.ts'
import { candidatesFor } from './candidates.ts'

const at = (...typed: string[]) => candidatesFor(COMMANDS, GLOBAL_OPTIONS, typed)

describe('candidates', () => {
  test('commands, then their words', () => {
    expect(at('').words).toEqual(expect.arrayContaining(['apply', 'get', 'rollout', 'node']))
    expect(at('rollout', '').words).toEqual(['status', 'history', 'undo', 'restart'])
  })
  test('options, and what they take', () => {
    expect(at('apply', '--').words).toEqual(expect.arrayContaining(['--filename', '--wait', '--verbose']))
    expect(at('get', 'nodes', '-o', '').words).toEqual(['table', 'wide', 'json', 'yaml', 'name'])
    expect(at('--context', '')).toEqual({ words: [], live: 'contexts' })
    expect(at('apply', '-f', '')).toEqual({ words: [] })
  })
  test('names of the kind that get was asked for', () => {
    expect(at('get', 'deployment', '')).toEqual({ words: [], live: 'deployments' })
    expect(at('get', '-o', 'wide', 'nodes', 'n')).toEqual({ words: [], live: 'nodes' })
    expect(at('get', 'quotas', '')).toEqual({ words: [] })
  })
  test('arguments, by choice or by live name', () => {
    expect(at('get', '').words).toContain('deployments')
    expect(at('describe', '')).toEqual({ words: [], live: 'deployments' })
    expect(at('--verbose', 'node', 'drain', 'n')).toEqual({ words: [], live: 'nodes' })
    expect(at('delete', 'a', 'b', '')).toEqual({ words: [], live: 'deployments' })
    expect(at('describe', 'a', '')).toEqual({ words: [] })
    expect(at('--context', 'b', 'describe', '')).toEqual({ words: [], live: 'deployments' })
  })
})

test('the words of get are those of the resources', () => {
  expect(RESOURCES.flatMap(({ names }) => names)).toEqual([...RESOURCE_NAMES])
  for (const name of RESOURCE_NAMES) expect(findResource(name)).toBeDefined()
})
