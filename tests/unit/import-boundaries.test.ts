// Every package follows the import table, no files import each other in a cycle, and the size rules hold. The checks are
// themselves tested with planted violations. See docs/design/packages.md#import-rules

import { join } from 'node:path'
import { checkBoundaries, importGraph } from '@holdfast/testkit/source-tree/check-boundaries'
import { checkHouseRules } from '@holdfast/testkit/source-tree/check-house-rules'
import { findCycles, showCycle } from '@holdfast/testkit/source-tree/find-cycles'
import {
  gatherSources,
  isInPackage,
  type SourceTree,
  showViolation,
} from '@holdfast/testkit/source-tree/source-tree'
import { describe, expect, test } from 'vitest'

describe('the repository', () => {
  const sources = gatherSources(join(import.meta.dirname, '../..'))

  const packages = new Map([...sources].filter(([path]) => isInPackage(path)))

  test('has sources to check', () => expect(sources.size).toBeGreaterThan(10))
  test('keeps the import table', () => expect(checkBoundaries(sources).map(showViolation)).toEqual([]))
  test('has no import cycle', () => expect(findCycles(importGraph(sources)).map(showCycle)).toEqual([]))
  test('keeps files and functions small and silences no type error', () =>
    expect(checkHouseRules(packages).map(showViolation)).toEqual([]))
})

const tree = (files: { readonly [path: string]: string }): SourceTree => new Map(Object.entries(files))
const faultsAt = (path: string, source: string) =>
  checkBoundaries(tree({ [path]: source })).map(({ what }) => what)
const boundaryFaults = (path: string, source: string) => faultsAt(`packages/${path}`, source)

describe('imports outside the packages', () => {
  test.each([
    ['tests/real/a.test.ts', `import { x } from '../../packages/server/src/b.ts'`],
    ['e2e/a.test.ts', `import { x } from '../tests/b.ts'`],
    ['bench/a.ts', `import { x } from '../tests/b.ts'`],
    ['scripts/a.ts', `import { x } from '../bench/b.ts'`],
    ['packages/server/src/a.ts', `import { x } from '../../../scripts/b.ts'`],
  ])('are rejected in %s: %s', (path, source) => expect(faultsAt(path, source)).toHaveLength(1))

  test.each([
    ['tests/real/a.test.ts', `import { x } from '@holdfast/server/b'`],
    ['tests/unit/a.test.ts', `import { x } from '../../scripts/b.ts'`],
    ['bench/a.ts', `import { x } from '../scripts/b.ts'`],
    ['bench/a.ts', `import { x } from '@holdfast/testkit'\nimport { y } from './lib/b.ts'`],
  ])('are allowed in %s: %s', (path, source) => expect(faultsAt(path, source)).toEqual([]))
})

describe('a forbidden import is rejected', () => {
  test.each([
    ['contract/src/a.ts', `import { x } from '@holdfast/core'`],
    ['contract/src/a.ts', `import { readFile } from 'node:fs'`],
    ['contract/src/a.ts', `import { readFile } from 'fs'`],
    ['contract/src/a.ts', `import fastify from 'fastify'`],
    ['core/src/a.ts', `import type { X } from '@holdfast/server'`],
    ['core/src/a.ts', `import { x } from '../../server/src/index.ts'`],
    ['core/src/a.ts', `export { x } from 'node:crypto'`],
    ['core/src/a.ts', `const x = await import('node:net')`],
    ['core/src/a.test.ts', `import { x } from '@holdfast/server'`],
    ['server/src/a.ts', `import { x } from '@holdfast/agent'`],
    ['server/src/a.ts', `import { x } from '@holdfast/testkit'`],
    ['server/src/api/a.ts', `import { x } from '../adapters/etcd/client.ts'`],
    ['server/src/api/a.ts', `import type { X } from '../adapters/etcd/client.ts'`],
    ['server/src/api/a.ts', `import { x } from '@holdfast/agent'`],
    ['server/src/operations/a.ts', `import type { FastifyRequest } from 'fastify'`],
    ['server/src/operations/a.ts', `import '@fastify/helmet'`],
    ['server/src/operations/a.ts', `import { x } from '../api/reply.ts'`],
    ['server/src/operations/a.ts', `import { x } from '../adapters/registry.ts'`],
    ['server/src/loops/a.ts', `import { IncomingMessage } from 'node:http'`],
    ['server/src/loops/a.ts', `import { x } from '../adapters/registry.ts'`],
    ['server/src/broker/a.ts', `import { x } from '../adapters/registry.ts'`],
    ['server/src/store/a.ts', `import { x } from './conformance/ranges.ts'`],
    ['server/src/store/a.ts', `import { x } from './store.fixture.ts'`],
    ['agent/src/a.ts', `import { x } from '@holdfast/core'`],
    ['agent/src/a.ts', `import { x } from '@holdfast/core/admission'`],
    ['client/src/a.ts', `import { x } from '@holdfast/core'`],
    ['cli/src/a.ts', `import { x } from '@holdfast/server'`],
    ['manifest/src/a.ts', `import { readFile } from 'node:fs'`],
    ['manifest/src/a.ts', `import { x } from '@holdfast/core'`],
    ['manifest/src/a.ts', `import { x } from '@holdfast/cli/run'`],
    ['dashboard/src/a.ts', `import { x } from '@holdfast/core/admission'`],
    ['dashboard/src/features/nodes/a.tsx', `import { x } from '@holdfast/manifest'`],
    ['dashboard/src/features/editor/a.tsx', `import { x } from '@holdfast/core'`],
    ['dashboard/src/a.tsx', `import { x } from 'node:path'`],
    ['dashboard/src/features/overview/a.tsx', `import { x } from '../nodes/b.tsx'`],
    ['dashboard/src/features/overview/a.tsx', `import { x } from '../../shell/b.tsx'`],
    ['dashboard/src/parts/a.tsx', `import { x } from '../api/b.ts'`],
    ['dashboard/src/parts/a.tsx', `import type { X } from '@holdfast/client'`],
    ['dashboard/src/parts/a.tsx', `import { useQuery } from '@tanstack/react-query'`],
    ['dashboard/src/api/a.ts', `import { x } from '../parts/b.tsx'`],
    ['unheard-of/src/a.ts', ''],
  ])('%s: %s', (path, source) => expect(boundaryFaults(path, source)).toHaveLength(1))
})

describe('an allowed import is accepted', () => {
  test.each([
    ['contract/src/a.ts', `import { x } from './b.ts'`],
    ['contract/src/a.test.ts', `import { readFile } from 'node:fs'\nimport { test } from 'vitest'`],
    ['core/src/a.ts', `import { x } from '@holdfast/contract'`],
    ['core/src/a.test.ts', `import { x } from '@holdfast/testkit'`],
    ['server/src/api/a.ts', `import { reject } from '@holdfast/core'`],
    ['server/src/api/a.ts', `import fastify from 'fastify'\nimport { x } from '../operations/b.ts'`],
    [
      'server/src/operations/a.ts',
      `import { x } from '@holdfast/core'\nimport type { P } from '../ports/store.ts'`,
    ],
    ['server/src/operations/a.test.ts', `import { x } from '../adapters/registry.ts'`],
    ['server/src/store/conformance/a.ts', `import { x } from '@holdfast/testkit'`],
    ['server/src/store/store.fixture.ts', `import { x } from '@holdfast/testkit'`],
    ['server/src/compose.ts', `import { x } from './adapters/registry.ts'`],
    ['server/src/main.ts', `import { x } from './adapters/registry.ts'`],
    ['server/src/adapters/etcd/a.ts', `import { x } from '../registry.ts'`],
    ['server/src/adapters-list.ts', `import { x } from './operations/b.ts'`],
    ['agent/src/a.ts', `import { x } from '@holdfast/core/node'`],
    ['cli/src/a.ts', `import { x } from '@holdfast/core/admission'`],
    ['manifest/src/a.ts', `import { parse } from 'yaml'\nimport { x } from '@holdfast/core/admission'`],
    ['dashboard/src/features/editor/a.ts', `import { x } from '@holdfast/manifest'`],
    ['dashboard/src/features/editor/a.ts', `import { x } from '@holdfast/core/admission'`],
    ['dashboard/src/features/overview/a.tsx', `import { x } from './rows/b.tsx'\nimport '../../parts/c.tsx'`],
    ['dashboard/src/parts/a.tsx', `import { useState } from 'react'\nimport { x } from '@holdfast/contract'`],
  ])('%s: %s', (path, source) => expect(boundaryFaults(path, source)).toEqual([]))
})

describe('core stays pure', () => {
  test.each([
    'const now = Date.now()',
    'const now = new Date()',
    'const now = new Date',
    'setTimeout(() => {}, 1)',
    'const x = Math.random()',
    'const x = process.env',
    'const x = fetch',
    'const x = globalThis',
    'const x = crypto.randomUUID()',
    'console.log(1)',
    `const text = \`a \${Date.now()} b\``,
  ])('%s is rejected', (source) => expect(boundaryFaults('core/src/a.ts', source)).toHaveLength(1))

  test.each([
    'const at = new Date(nowMs)',
    '// Date.now() is banned here',
    'const text = "Math.random() and process.env"',
    'const text = `Date.now()`',
    'const found = /process.env/.test(text)',
    'const x = spec.process',
    'const x = { process: 1 }',
    'const preprocess = 1',
  ])('%s is accepted', (source) => expect(boundaryFaults('core/src/a.ts', source)).toEqual([]))

  test('the client has no Node globals either, because it runs in a browser', () => {
    for (const source of ['const x = process.env', 'const x = Buffer.from(text)'])
      expect(boundaryFaults('client/src/a.ts', source)).toHaveLength(1)
    expect(boundaryFaults('client/src/a.ts', 'const x = await fetch(url)')).toEqual([])
  })

  test('tests of core may read a clock', () =>
    expect(boundaryFaults('core/src/a.test.ts', 'const now = Date.now()')).toEqual([]))
})

describe('the import scanner', () => {
  const forbidden = `import { x } from 'node:fs'`
  test.each([
    ['a comment', `// ${forbidden}`],
    ['a block comment', `/*\n${forbidden}\n*/`],
    ['a string', `const text = "${forbidden}"`],
    ['a template', `const text = \`\n${forbidden}\n\``],
    ['a pattern with quotes', `const p = /['"\`]/\nconst text = "${forbidden}"`],
    ['an attribute beside closed elements', `const a = <b><i c={d} /></b>\nconst t = "${forbidden}"`],
    ['a member called import', `const x = loader.import('node:fs')`],
    ['a constant called from', `export const from = 'node:fs'`],
  ])('ignores an import in %s', (_, source) => expect(boundaryFaults('core/src/a.ts', source)).toEqual([]))

  test.each([
    ['a comment before it', `/* it's */ ${forbidden}`],
    ['a clause over lines', `import {\n  a, // it's\n  type B,\n} from 'node:fs'`],
    ['a namespace', `import * as fs from 'node:fs'`],
    ['a quote in a pattern before it', `const p = /[/'"]/\n${forbidden}`],
    ['closed elements before it', `const a = <b>{c}</b>\nconst d = <i e={f} />; ${forbidden}`],
    ['a division before it', `const q = a / b / c\n${forbidden}`],
    ['a nested template before it', `const t = \`a \${f({ b: \`}\${1}'\` })} '\`\n${forbidden}`],
    ['a re-export of all', `export * from 'node:fs'`],
    ['a type of an import', `type F = typeof import('node:fs')`],
    ['a side effect alone', `import 'node:fs'`],
  ])('finds an import with %s', (_, source) =>
    expect(boundaryFaults('core/src/a.ts', source)).toHaveLength(1),
  )

  test('reports the line of an import', () => {
    const [fault] = checkBoundaries(tree({ 'packages/core/src/a.ts': `\n/* a\n b */\n${forbidden}` }))
    expect(fault?.line).toBe(4)
  })
})

describe('import cycles', () => {
  const cyclesOf = (files: { readonly [path: string]: string }) =>
    findCycles(importGraph(tree(files))).map(showCycle)

  test('a cycle is reported as its path', () =>
    expect(
      cyclesOf({
        'packages/core/src/a.ts': `import { b } from './b.ts'`,
        'packages/core/src/b.ts': `import type { C } from './deep/c.ts'`,
        'packages/core/src/deep/c.ts': `export * from '../a.ts'`,
        'packages/core/src/d.ts': `import { a } from './a.ts'`,
      }),
    ).toEqual([
      'import cycle: packages/core/src/a.ts -> packages/core/src/b.ts -> packages/core/src/deep/c.ts -> packages/core/src/a.ts',
    ]))

  test('a cycle through package names is found', () =>
    expect(
      cyclesOf({
        'packages/core/src/index.ts': `import { b } from '@holdfast/contract'`,
        'packages/contract/src/index.ts': `import { a } from '@holdfast/core'`,
      }),
    ).toHaveLength(1))

  test('a diamond is no cycle', () =>
    expect(
      cyclesOf({
        'packages/core/src/a.ts': `import './b.ts'\nimport './c.ts'`,
        'packages/core/src/b.ts': `import './d.ts'`,
        'packages/core/src/c.ts': `import './d.ts'`,
        'packages/core/src/d.ts': '',
      }),
    ).toEqual([]))
})

describe('size and type rules', () => {
  const faultsIn = (source: string, path = 'packages/core/src/a.ts') =>
    checkHouseRules(tree({ [path]: source })).map(({ what }) => what)
  const lines = (count: number) => 'f()\n'.repeat(count)

  test.each([
    ['a function', (n: number) => `function f(a: number): Promise<void> {\n${lines(n)}}`],
    ['an arrow', (n: number) => `const f = async (a) => {\n${lines(n)}}`],
    ['a method', (n: number) => `const o = {\n f(a) {\n${lines(n)}} }`],
    ['a function with an object type', (n: number) => `function f(): { a: string } {\n${lines(n)}}`],
    ['a generic function', (n: number) => `function f<T>(a: T): readonly T[] {\n${lines(n)}}`],
  ])('%s of 70 lines passes and of 71 does not', (_, make) => {
    expect(faultsIn(make(68))).toEqual([])
    expect(faultsIn(make(69))).toEqual(['a function of 71 lines, at most 70'])
  })

  test.each([
    ['a block', `if (a) {\n${lines(90)}}`],
    ['a table', `const table = {\n${'a: 1,\n'.repeat(90)}}`],
    ['an interface', `function f(): void {}\ninterface A extends B<C> {\n${'a: 1\n'.repeat(90)}}`],
    ['a branch', `function f(): void {}\nif (a) {} else {\n${lines(90)}}`],
  ])('%s does not count as a function', (_, source) => expect(faultsIn(source)).toEqual([]))

  test('a file of 401 lines is too long, and a test of that length is not', () => {
    expect(faultsIn(lines(401))).toEqual(['has 401 lines, at most 400'])
    expect(faultsIn(lines(400))).toEqual([])
    expect(faultsIn(lines(401), 'packages/core/src/a.test.ts')).toEqual([])
  })

  test('casts to any and silenced type errors are found', () => {
    expect(faultsIn('const a = b as any')).toEqual(['casts to any'])
    expect(faultsIn('// @ts-ignore\nconst a = 1')).toEqual(['silences the type checker'])
    expect(faultsIn('const text = "as any @ts-ignore"')).toEqual([])
  })
})
