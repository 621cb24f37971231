// The command around the translation: files, variables, outputs and exit codes. The translation has its own tests in
// packages/manifest/src/compose.

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Invocation } from '../../command.ts'
import { invocation, scriptTerminal } from '../../terminal/scripted-terminal.fixture.ts'
import { importCompose } from './import-compose.ts'

let folder = ''
const at = (name: string): string => join(folder, name)

const WEB = [
  'services:',
  '  web:',
  `    image: registry.example.com/web:\${TAG}`,
  '    env_file: web.env',
  '    privileged: true',
  '    restart: always',
].join('\n')

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'import-compose-'))
  writeFileSync(at('compose.yaml'), WEB)
  writeFileSync(at('plain.yaml'), 'services:\n  web:\n    image: registry.example.com/web:1.0.0\n')
  writeFileSync(at('web.env'), 'MODE=fast\nAPI_TOKEN=Not-to-be-shown-1\n')
  writeFileSync(at('.env'), 'TAG=1.5.0\n')
  writeFileSync(at('list.yaml'), '- web\n')
})
afterAll(() => rmSync(folder, { recursive: true }))

async function run(
  file: string,
  typed: { [option: string]: string | boolean } = {},
  more: Partial<Invocation> = {},
) {
  const terminal = { ...scriptTerminal(), ...more.terminal }
  const exitCode = await importCompose.run({ ...invocation(terminal, [file], typed), ...more, terminal })
  return { exitCode, ...terminal.printed }
}

describe('import compose', () => {
  test('prints manifests to stdout and the report to stderr', async () => {
    const { exitCode, out, err } = await run(at('compose.yaml'), { 'env-file': at('.env') })
    expect(exitCode).toBe(0)
    expect(out).toContain('image: registry.example.com/web:1.5.0')
    expect(out).toContain('MODE: fast')
    expect(err).toContain(
      'compose.yaml:5: services.web.privileged\n  why:  Containers run without extra privileges.',
    )
    expect(err).toContain('  holdfast secret set deployments/web --prompt API_TOKEN\n')
    expect(err).toMatch(
      /compose\.yaml: 1 deployment; 2 members carried over, 1 refused, 2 changed, 0 ignored\n$/,
    )
    expect(out + err).not.toContain('Not-to-be-shown')
  })

  test('reads .env only if it is named, and the environment first', async () => {
    const without = await run(at('compose.yaml'))
    expect(without.exitCode).toBe(3)
    expect(without.err).toContain('The variable TAG of its image is not set.')
    const given = await run(at('compose.yaml'), { 'env-file': at('.env') }, { env: { TAG: '2.0.0' } })
    expect(given.out).toContain('web:2.0.0')
  })

  test('writes a file once, and again only by force', async () => {
    const to = at('manifests.yaml')
    expect(await run(at('plain.yaml'), { to })).toMatchObject({ exitCode: 0, out: '' })
    expect(readFileSync(to, 'utf8')).toContain('name: web')
    writeFileSync(to, 'mine')
    const second = await run(at('plain.yaml'), { to })
    expect([second.exitCode, readFileSync(to, 'utf8')]).toEqual([1, 'mine'])
    expect(second.err).toContain('exists already; --force overwrites it')
    expect((await run(at('plain.yaml'), { to, force: true })).exitCode).toBe(0)
    expect(readFileSync(to, 'utf8')).toContain('name: web')
  })

  test('prints documents and report as one JSON object', async () => {
    const { exitCode, out, err } = await run(at('plain.yaml'), { output: 'json' })
    expect([exitCode, err]).toEqual([0, ''])
    expect(JSON.parse(out)).toMatchObject({
      documents: [{ kind: 'Deployment', name: 'web' }],
      findings: [],
      secrets: [],
    })
  })

  test('writes nothing with --strict if a member is refused', async () => {
    const { exitCode, out, err } = await run(at('compose.yaml'), { strict: true, 'env-file': at('.env') })
    expect([exitCode, out]).toEqual([3, ''])
    expect(err).toContain('nothing was written, because --strict allows no refused member')
    expect((await run(at('plain.yaml'), { strict: true })).exitCode).toBe(0)
  })

  test('reads stdin', async () => {
    const readInput = async () => new TextEncoder().encode(readFileSync(at('plain.yaml'), 'utf8'))
    const terminal = { ...scriptTerminal(), readInput }
    expect(await importCompose.run(invocation(terminal, ['-']))).toBe(0)
    expect(terminal.printed.out).toContain('name: web')
  })

  test.each([
    ['missing.yaml', {}, 1, 'no such file'],
    ['.', {}, 1, 'is not a file'],
    ['list.yaml', {}, 3, 'list.yaml:1: The file is not a Compose file'],
    ['plain.yaml', { 'volume-size': '10' }, 2, 'is not a size'],
    ['plain.yaml', { 'env-file': '/nowhere/.env' }, 1, '/nowhere/.env cannot be read: no such file'],
    ['plain.yaml', { to: '/nowhere/x.yaml' }, 1, '/nowhere/x.yaml cannot be written: ENOENT'],
  ])('%s with %o ends with %i', async (name, typed, exitCode, message) => {
    const result = await run(at(name), typed)
    expect([result.exitCode, result.out]).toEqual([exitCode, ''])
    expect(result.err).toContain(message)
  })
})
