// The packages contain their programs, units and documents, and their scripts delete data on purge alone.

import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { serverExample } from '../../../scripts/package/gather-built.ts'
import { maintainerScripts } from '../../../scripts/package/maintainer-scripts.ts'
import { nfpmConfig, type Release } from '../../../scripts/package/nfpm-config.ts'
import {
  type Built,
  type Content,
  packageOfUnit,
  planPackages,
} from '../../../scripts/package/package-plan.ts'
import { readUnit } from '../../../scripts/package/units.ts'

const ROOT = join(import.meta.dirname, '../../..')
const SOURCES = globSync(['packages/{server,agent}/*.service', 'engines/*/*.service'], { cwd: ROOT })
const UNITS = SOURCES.map((source) => readUnit(source, readFileSync(join(ROOT, source), 'utf8')))

const BUILT: Built = {
  node: '/build/node',
  bundleFiles: {
    'holdfast-server': new Map([
      ['server/dist/holdfast-server.mjs', '/build/server.mjs'],
      ['dashboard/dist/index.html', '/build/index.html'],
    ]),
    'holdfast-agent': new Map([
      ['holdfast-agent.mjs', '/build/agent.mjs'],
      ['holdfast-fencer.mjs', '/build/fencer.mjs'],
    ]),
    'holdfast-cli': new Map([['holdfast.mjs', '/build/cli.mjs']]),
  },
  engines: new Map(['etcd', 'etcdctl', 'vault', 'caddy'].map((name) => [name, `/cache/${name}`])),
  units: UNITS,
  pathOf: ({ source }) => join(ROOT, source),
  serverExample: 'listen:\n',
  poolRights: '[Service]\n',
  notices: {
    'holdfast-server': 'notice of server',
    'holdfast-agent': 'notice of agent',
    'holdfast-cli': 'notice of cli',
    'holdfast-engines': 'notice of engines',
  },
}
const RELEASE: Release = {
  version: '1.2.3',
  date: '2026-01-01T00:00:00.000Z',
  maintainer: 'A <a@example.com>',
  homepage: 'https://example.com',
  arch: 'amd64',
}
const PLANS = planPackages(BUILT)

function planOf(name: string) {
  const plan = PLANS.find((each) => each.name === name)
  if (plan === undefined) throw new Error(`no plan of ${name}`)
  return plan
}
const pathsOf = (name: string): string[] => planOf(name).contents.map(({ to }) => to)
const textAt = (name: string, path: string): string => {
  const found: Content | undefined = planOf(name).contents.find(({ to }) => to === path)
  if (found?.kind !== 'text') throw new Error(`${name} has no text ${path}`)
  return found.text
}

describe('contents', () => {
  test.each([
    ['holdfast-server', ['/usr/bin/holdfast-server', '/etc/holdfast/server.example.yaml']],
    [
      'holdfast-agent',
      ['/usr/bin/holdfast-agent', '/usr/bin/holdfast-fencer', '/etc/holdfast/agent.example.env'],
    ],
    ['holdfast-cli', ['/usr/bin/holdfast']],
    [
      'holdfast-engines',
      ['/usr/lib/holdfast/engines/etcd', '/usr/lib/holdfast/engines/vault', '/usr/bin/caddy'],
    ],
  ])('%s installs its commands and documents', (name, paths) =>
    expect(pathsOf(name)).toEqual(expect.arrayContaining([...paths, `/usr/share/doc/${name}/copyright`])),
  )

  test('no two packages install the same path', () => {
    const all = PLANS.flatMap(({ contents }) => contents.map(({ to }) => to))
    expect(all).toHaveLength(new Set(all).size)
  })

  test('each unit is installed by one package, and its program by the same or by the engines', () => {
    expect(UNITS.length).toBeGreaterThan(2)
    for (const unit of UNITS) {
      expect(pathsOf(packageOfUnit(unit))).toContain(`/usr/lib/systemd/system/${unit.name}`)
      const text = readFileSync(BUILT.pathOf(unit), 'utf8')
      const [, program = ''] = /^ExecStart=[-+!:@]*(\/\S+)/m.exec(text) ?? []
      const installed = [...pathsOf(packageOfUnit(unit)), ...pathsOf('holdfast-engines')]
      if (!/^\/bin\/|^\/usr\/bin\/systemd/.test(program)) expect(installed).toContain(program)
    }
  })

  test('the server finds the dashboard where it looks for it', () => {
    const server = new URL('file:///usr/lib/holdfast-server/server/dist/holdfast-server.mjs')
    const compose = readFileSync(join(ROOT, 'packages/server/src/compose.ts'), 'utf8')
    const [, relative = ''] =
      /INSTALLED_UI = fileURLToPath\(new URL\('([^']+)', import\.meta\.url\)\)/.exec(compose) ?? []
    expect(pathsOf('holdfast-server')).toContain(`${new URL(relative, server).pathname}/index.html`)
  })

  test('a launcher replaces the shell by the program and passes all words', () =>
    expect(textAt('holdfast-agent', '/usr/bin/holdfast-fencer')).toBe(
      '#!/bin/sh\nexec /usr/lib/holdfast-agent/node /usr/lib/holdfast-agent/holdfast-fencer.mjs "$@"\n',
    ))

  test("the server's launcher disables Node's warning about names that are IP addresses", () =>
    expect(textAt('holdfast-server', '/usr/bin/holdfast-server')).toBe(
      '#!/bin/sh\nexec /usr/lib/holdfast-server/node --disable-warning=DEP0123 /usr/lib/holdfast-server/server/dist/holdfast-server.mjs "$@"\n',
    ))

  test('the example of a configuration is that of the guide', () => {
    const example = serverExample(readFileSync(join(ROOT, 'docs/guides/configuration.md'), 'utf8'))
    expect(example).toMatch(/^publicUrl:/m)
    expect(example).toMatch(/^secretsStore:/m)
    expect(example).not.toContain('```')
    expect(() => serverExample('# A guide')).toThrow('no complete example')
  })
})

describe('units', () => {
  test('state the user and the folders that the package has to care for', () => {
    const text =
      '[Service]\nUser=holdfast-x\nStateDirectory=one two:old\n[Install]\nWantedBy=multi-user.target\n'
    expect(readUnit('packages/server/x.service', text)).toEqual({
      name: 'x.service',
      source: 'packages/server/x.service',
      user: 'holdfast-x',
      state: ['/var/lib/one', '/var/lib/two'],
      installable: true,
    })
    expect(readUnit('a/y.service', '[Service]\nUser=root\n')).toMatchObject({ user: undefined, state: [] })
  })
})

describe('maintainer scripts', () => {
  const unit = readUnit('packages/server/a.service', 'User=holdfast-a\nStateDirectory=holdfast-a\n')
  const kept = readUnit('packages/server/b.service', '')
  const facts = { users: ['holdfast-b'], purged: ['/etc/holdfast/a.yaml'], keepRunning: ['b.service'] }
  const scripts = maintainerScripts({ ...facts, units: [unit, kept] })

  test('create the users of the units before the files are there', () => {
    for (const user of ['holdfast-a', 'holdfast-b'])
      expect(scripts.preinstall).toMatch(new RegExp(`useradd --system .* ${user}$`, 'm'))
  })

  test('restart units that run, except those that must keep running', () => {
    expect(scripts.postinstall).toContain('systemctl try-restart a.service ||')
    expect(scripts.postinstall).not.toMatch(/b\.service|start a\.service [^|]/)
  })

  test('stop units when the package is removed, and not in an upgrade', () => {
    expect(scripts.preremove).toMatch(
      /if \[ "\$1" = remove \] \|\| \[ "\$1" = 0 \]; then[\s\S]*disable --now a\.service b\.service/,
    )
  })

  test('restart nothing when dpkg has aborted an upgrade', () =>
    expect(scripts.postinstall).toMatch(
      /if \[ "\$1" != abort-upgrade \] && \[ -d \/run\/systemd\/system \]; then\n {2}systemctl daemon-reload/,
    ))

  test('of the server alone check whether an older version reads the records', () => {
    const checks = PLANS.filter((plan) => plan.scripts.preremove.includes('upgrade oldest'))
    expect(checks.map(({ name }) => name)).toEqual(['holdfast-server'])
    for (const word of ['upgrade', 'failed-upgrade'])
      expect(planOf('holdfast-server').scripts.preremove).toContain(`if [ "$1" = ${word} ]`)
  })

  test('delete data on purge alone', () => {
    const [before = '', after = ''] = scripts.postremove.split('if [ "$1" = purge ]; then')
    expect(before).not.toContain('rm ')
    expect(after).toContain('rm -rf --one-file-system /var/lib/holdfast-a || true\n')
    expect(after).toContain('rm -rf --one-file-system /etc/holdfast/a.yaml || true\n')
    for (const script of [scripts.preinstall, scripts.postinstall, scripts.preremove])
      expect(script).not.toContain('rm -')
  })

  test.each(PLANS)('of $name never delete a folder that packages share', ({ scripts: { postremove } }) =>
    expect(postremove).not.toMatch(
      /rm -rf --one-file-system (?:\/etc\/holdfast|\/var\/lib\/holdfast|\/\S{0,8}) /m,
    ),
  )
})

describe('the configuration of nfpm', () => {
  const { config, texts } = nfpmConfig(planOf('holdfast-server'), RELEASE, '/work')
  const read = JSON.parse(config)

  test('gives each file the date of the commit and a mode of its own', () => {
    expect(read.mtime).toBe(RELEASE.date)
    for (const { file_info } of read.contents)
      expect(file_info).toMatchObject({ owner: 'root', mtime: RELEASE.date })
    const modes = new Map(
      read.contents.map((each: { dst: string; file_info: { mode: number } }) => [
        each.dst,
        each.file_info.mode,
      ]),
    )
    expect(modes.get('/usr/bin/holdfast-server')).toBe(0o755)
    expect(modes.get('/etc/holdfast/server.example.yaml')).toBe(0o644)
  })

  test('keeps a configuration that the operator edited', () =>
    expect(read.contents).toContainEqual(
      expect.objectContaining({ dst: '/etc/holdfast/server.example.yaml', type: 'config|noreplace' }),
    ))

  test('refers to every text and script that is written', () => {
    const used = [...read.contents.map(({ src }: { src: string }) => src), ...Object.values(read.scripts)]
    expect(used).toEqual(expect.arrayContaining(texts.map(({ path }) => path)))
    expect(texts.filter(({ text }) => text === 'notice of server')).toHaveLength(1)
  })

  test('names no machine', () => expect(read.rpm.buildhost).toBe('localhost'))
})
