// Manifests applied with the CLI to a real platform: the stored records, the output, and the exit codes.

import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type CliWorld, startCliWorld } from '@holdfast/testkit/cli/start-world'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

let world: CliWorld
let folder: string

beforeAll(async () => {
  world = await startCliWorld(['n1', 'n2'])
  folder = mkdtempSync(join(tmpdir(), 'holdfast-manifests-'))
})
afterAll(async () => {
  rmSync(folder, { recursive: true, force: true })
  await world.stop()
})

function write(name: string, text: string): string {
  const path = join(folder, name)
  writeFileSync(path, text)
  return path
}
const manifest = (name: string, more = '') =>
  `kind: Deployment\nname: ${name}\nimage: ${world.platform.image}\n${more}`
const record = async (name: string) =>
  (await world.platform.api(world.platform.acme.token).get(`/api/v1/deployments/${name}`)).body

test('a Compose file is imported, and the platform accepts its manifests', async () => {
  const compose = [
    'services:',
    '  imported_web:',
    `    image: ${world.platform.image}`,
    '    environment: {MODE: fast, API_TOKEN: Made-up-value-1}',
    '    depends_on: {imported-store: {condition: service_healthy}}',
    '    restart: always',
    '  imported-store:',
    `    image: ${world.platform.image}`,
    '    healthcheck: {test: [CMD-SHELL, "true || false"]}',
    '    deploy: {resources: {limits: {memory: 64m}}}',
    '    restart: always',
  ].join('\n')
  const to = join(folder, 'imported.yaml')
  const imported = await world.cli(['import', 'compose', write('compose.yaml', compose), '--to', to])
  expect(imported).toMatchObject({ code: 0, stdout: '' })
  expect(imported.stderr).toContain('holdfast secret set deployments/imported-web --prompt API_TOKEN')
  expect(imported.stderr + readFileSync(to, 'utf8')).not.toContain('Made-up-value')
  expect(await world.cli(['apply', '-f', to, '--dry-run'])).toMatchObject({ code: 0 })
})

describe('holdfast apply', () => {
  test('creates, changes, leaves alone, and counts the defaults; --verbose lists them', async () => {
    const path = write('web.yaml', manifest('web', 'replicas: 2\n'))
    const created = await world.cli(['apply', '-f', path, '--wait'])
    expect(created).toMatchObject({ code: 0, stdout: 'deployment/web created\ndeployment/web running\n' })
    expect(created.stderr).toMatch(/^ {2}\d defaults applied \(--verbose lists them\)$/m)
    expect(created.stderr).toMatch(/^ {2}altered: the image was resolved to sha256:\w{12}$/m)
    expect(created.stderr).toContain('web: Running, 2 of 2 ready')
    expect(created.stderr).toMatch(/web replica 1 on n[12]: ready, revision 1/)
    expect(await world.cli(['apply', '-f', path])).toMatchObject({
      code: 0,
      stdout: 'deployment/web unchanged\n',
      stderr: '',
    })
    write('web.yaml', manifest('web', 'replicas: 1\nlabels: {a: b}\n'))
    expect((await world.cli(['apply', '-f', path])).stdout).toBe('deployment/web configured\n')
    write('web.yaml', manifest('web'))
    const kept = await world.cli(['apply', '-f', path])
    expect(kept.stderr).toContain(
      'kept: labels keeps its stored value, because the manifest does not mention it (labels: null',
    )
  })

  test('reads stdin, JSON, a folder and several documents, dependencies first', async () => {
    const check = 'healthCheck: {type: exec, command: ["true"]}\n'
    const text = `${manifest('shop', 'dependsOn: {store: healthy}\n')}---\n${manifest('store', check)}`
    expect((await world.cli(['apply', '-f', '-'], { input: text })).stdout).toBe(
      'deployment/store created\ndeployment/shop created\n',
    )
    mkdirSync(join(folder, 'many'))
    write('many/b.json', JSON.stringify({ kind: 'Deployment', name: 'many-b', image: world.platform.image }))
    write('many/a.yml', manifest('many-a'))
    write('many/notes.txt', 'no manifest')
    expect((await world.cli(['apply', '-f', join(folder, 'many')])).stdout).toBe(
      'deployment/many-a created\ndeployment/many-b created\n',
    )
  })

  test('prints the result as JSON, as names, or not at all', async () => {
    const path = write('forms.yaml', manifest('forms', 'replicas: 0\n'))
    expect(JSON.parse((await world.cli(['apply', '-f', path, '--wait', '-o', 'json'])).stdout)).toMatchObject(
      {
        items: [{ result: 'created', deployment: { name: 'forms', revision: 1 }, warnings: [] }],
      },
    )
    expect(await world.cli(['apply', '-f', path, '-o', 'name'])).toEqual({
      ...{ code: 0, stdout: 'deployment/forms\n', stderr: '' },
    })
    write('forms.yaml', manifest('forms', 'replicas: 0\nlabels: {a: b}\n'))
    expect(await world.cli(['apply', '-f', path, '-q'])).toEqual({ code: 0, stdout: '', stderr: '' })
  })

  test('shows all rejections at their position in the file, and stores nothing', async () => {
    const path = write(
      'bad.yaml',
      manifest('bad', 'replicas: -1\nhealthCheck:\n  type: exec\n  command: ["true"]\n  timeout: 5s\n'),
    )
    const ran = await world.cli(['apply', '-f', path])
    expect(ran).toMatchObject({ code: 3, stdout: '' })
    expect(ran.stderr).toContain(
      `${path}:4:11: replicas_negative at replicas\n  4 | replicas: -1\n    |           ^^\n`,
    )
    expect(ran.stderr).toContain(`${path}:8:12: healthcheck_timeout_below_floor at healthCheck.timeout\n`)
    expect(ran.stderr).toContain(`more:     ${world.platform.baseUrl}/docs/errors/replicas_negative`)
    expect(await record('bad')).toMatchObject({ code: 'deployment_not_found' })
  })

  test('shows rejections that depend on other records in the file too', async () => {
    const path = write(
      'gone.yaml',
      `kind: Deployment\nname: gone\nimage: ${world.platform.registryHost}/no/such:1\n`,
    )
    const ran = await world.cli(['apply', '-f', path])
    expect(ran.code).toBe(3)
    expect(ran.stderr).toContain(`${path}:3:8: image_not_found at image\n`)
  })

  test('--dry-run plans and stores nothing', async () => {
    const ran = await world.cli(['apply', '-f', write('dry.yaml', manifest('dry')), '--dry-run'])
    expect(ran.code).toBe(0)
    expect(ran.stdout).toMatch(
      /^deployment\/dry would be created\n {2}Effects: nothing that runs is affected\.\n {2}Replica 1 starts on n[12] \(/,
    )
    expect(ran.stderr).toMatch(/^ {2}\d defaults applied \(--verbose lists them\)$/m)
    const verbose = await world.cli(['apply', '-f', join(folder, 'dry.yaml'), '--dry-run', '--verbose'])
    expect(verbose.stderr).toMatch(/^ {2}default: secretsVersion 0$/m)
    expect(await record('dry')).toMatchObject({ code: 'deployment_not_found' })
  })

  test('exits with 4 and lists every node with its reason if a replica fits nowhere', async () => {
    const big = manifest('big', 'resources: {cpuMillis: 900000, memoryBytes: 0}\n')
    const ran = await world.cli(['apply', '-f', write('big.yaml', big), '--wait'])
    expect(ran).toMatchObject({ code: 4, stdout: 'deployment/big created\ndeployment/big not ready\n' })
    expect(ran.stderr).toMatch(/NODE +REASON +REQUIRED +REPORTED +REMEDY\n/)
    for (const node of ['n1', 'n2']) expect(ran.stderr).toMatch(new RegExp(`${node} +\\w+`))
  })
})

describe('holdfast diff', () => {
  test('shows each field as it is and as it would be', async () => {
    await world.cli(['apply', '-f', write('d.yaml', manifest('d', 'replicas: 1\n'))])
    const ran = await world.cli([
      'diff',
      '-f',
      write('d.yaml', manifest('d', 'replicas: 2\nlabels: {a: b}\n')),
    ])
    expect(ran.code).toBe(0)
    expect(ran.stdout).toContain(
      'deployment/d would be configured\n- replicas: 1\n+ replicas: 2\n+ labels:\n+   a: b\n',
    )
    expect(await record('d')).toMatchObject({ replicas: 1 })
  })

  test('has an exit code on request, and structured output', async () => {
    const same = write('e.yaml', manifest('e', 'replicas: 1\n'))
    const code = async (...words: string[]) => (await world.cli(['diff', '-f', ...words])).code
    expect([await code(same), await code(same, '--exit-code')]).toEqual([0, 1])
    await world.cli(['apply', '-f', same])
    expect([await code(same), await code(same, '--exit-code')]).toEqual([0, 0])
    const other = write('other.yaml', manifest('e', 'replicas: 2\n'))
    expect([await code(other), await code(other, '--exit-code')]).toEqual([0, 1])
    const wrong = write('wrong.yaml', manifest('e', 'replicas: -1\n'))
    expect(await code(wrong, '--exit-code')).toBe(3)
    expect(await code(other, '-f', same)).toBe(3)
    const asData = await world.cli(['diff', '-f', other, '-o', 'json'])
    expect(JSON.parse(asData.stdout)).toMatchObject({
      items: [{ name: 'e', plan: { action: 'update', changes: [{ field: 'replicas', from: 1, to: 2 }] } }],
    })
    expect(asData.stderr).toBe('')
    expect((await world.cli(['diff', '-f', same, '-o', 'yaml'])).stdout).toMatch(/^items:\n {2}- name: e\n/)
  })
})

describe('one field of a deployment', () => {
  test('scale changes the number of replicas, plans with --dry-run and waits', async () => {
    await world.cli(['apply', '-f', write('one.yaml', manifest('one', 'labels: {a: b}\n')), '--wait'])
    const dry = await world.cli(['scale', 'one', '2', '--dry-run'])
    expect(dry.stdout).toMatch(/^deployment\/one would be scaled from 1 to 2\n {2}Effects: /)
    expect(await record('one')).toMatchObject({ replicas: 1 })
    expect(await world.cli(['scale', 'deployment/one', '2', '--wait'])).toMatchObject({
      ...{ code: 0, stdout: 'deployment/one scaled from 1 to 2\ndeployment/one running\n' },
    })
    expect(await record('one')).toMatchObject({ replicas: 2, labels: { a: 'b' }, revision: 2 })
    expect((await world.cli(['scale', 'one', '--replicas', '2'])).stdout).toBe('deployment/one unchanged\n')
    expect(await world.cli(['scale', 'one', 'two'])).toMatchObject({ code: 2, stdout: '' })
    expect(await world.cli(['scale', 'none', '2'])).toMatchObject({ code: 5, stdout: '' })
  })

  test('set env changes single variables, and set image the image', async () => {
    await world.cli(['set', 'env', 'one', 'A=1', 'B=x=y'])
    expect(await record('one')).toMatchObject({ environment: { A: '1', B: 'x=y' } })
    await world.cli(['set', 'env', 'one', 'A-', 'C='])
    expect((await record('one'))['environment']).toEqual({ B: 'x=y', C: '' })
    await world.cli(['set', 'env', 'one', 'B-', 'C-'])
    expect(await record('one')).not.toHaveProperty('environment.B')
    const secret = await world.cli(['set', 'env', 'one', 'DB_PASSWORD=canary-value'])
    expect(secret).toMatchObject({ code: 3, stdout: '' })
    expect(secret.stderr).toContain('plaintext_credential_in_environment')
    expect(secret.stderr).not.toContain('canary')
    expect(await world.cli(['set', 'env', 'one', 'canary'])).toMatchObject({
      ...{ code: 2, stderr: 'error: change 1 is neither KEY=VALUE nor KEY-\n' },
    })
    const { image } = world.platform
    expect((await world.cli(['set', 'image', 'one', `web=${image}`])).stdout).toBe(
      'deployment/one unchanged\n',
    )
    expect(await world.cli(['set', 'image', 'one', `${image}-none`])).toMatchObject({ code: 3, stdout: '' })
    expect((await record('one'))['image']).toBe(image)
  })

  test('ps lists the replicas of one deployment or of all', async () => {
    const one = await world.cli(['ps', 'one'])
    expect(one.stdout).toMatch(
      /^DEPLOYMENT +REPLICA +NODE +STATE +REVISION +RESTARTS +UP +LAST EXIT\none +1 +n[12] +ready +\d+ +0 +\d\w+ +-\n/,
    )
    const all = (await world.cli(['ps'])).stdout
    for (const name of ['one', 'web']) expect(all).toMatch(new RegExp(`^${name} +1 `, 'm'))
    expect(await world.cli(['ps', 'none'])).toMatchObject({ code: 5, stdout: '' })
    expect(await world.cli(['logs', 'one', '--replica', '9'])).toMatchObject({
      ...{ code: 5, stderr: 'error: there is no replica 9: 1, 2\n' },
    })
    expect(await world.cli(['exec', 'one', '--replica', '9', 'ls', '-la'])).toMatchObject({
      ...{ code: 5, stderr: 'error: there is no replica 9: 1, 2\n' },
    })
  })

  test('habits of other tools work, or are answered with what to type', async () => {
    const printed = async (...words: string[]) => {
      const { stdout, stderr } = await world.cli(words)
      return stdout + stderr
    }
    expect(await printed('get', 'deployment/one', '-o', 'name')).toBe('deployment/one\n')
    expect(await printed('ls', '-o', 'name')).toBe(await printed('get', 'deploy', '-o', 'name'))
    expect(await printed('node', 'ls', '-o', 'name')).toBe(await printed('get', 'no', '-o', 'name'))
    expect(await printed('get', 'secrets', '-o', 'name')).toBe(await printed('secret', 'list', '-o', 'name'))
    expect(await printed('describe', 'deployment', 'one')).toMatch(/^Name: +one\n/)
    expect(await printed('describe', 'node', 'n1')).toMatch(
      /^Name: +n1\nStatus: +ready\n(.*\n)+.*DEPLOYMENT +REPLICA/,
    )
    expect(await printed('restart', 'one', '--dry-run')).toMatch(/^deployment\/one would be restarted\n/)
    expect(await printed('rollback', 'one', '--dry-run')).toMatch(/^deployment\/one would be rolled back to /)
    expect(await printed('get', 'pods')).toBe(
      'error: there is no kind pods; replicas: holdfast ps, or holdfast describe NAME\n',
    )
    expect(await printed('get', 'deploymnts')).toBe(
      'error: there is no kind deploymnts; did you mean deployments?\n',
    )
    expect(await printed('wait', 'one')).toMatch(
      /^error: unknown command 'wait'\nholdfast rollout status NAME waits/,
    )
  })
})

describe('holdfast delete', () => {
  test('deletes by file and by name, and waits until nothing is left', async () => {
    const path = write(
      'old.yaml',
      `${manifest('old-a')}---\n${manifest('old-b', 'dependsOn: {old-a: started}\n')}`,
    )
    expect((await world.cli(['apply', '-f', path, '--wait'])).code).toBe(0)
    const ran = await world.cli(['delete', '-f', path, '--wait'])
    expect(ran).toMatchObject({ code: 0 })
    expect(ran.stdout).toBe(
      ['old-b deleting', 'old-a deleting', 'old-b deleted', 'old-a deleted']
        .map((line) => `deployment/${line}\n`)
        .join(''),
    )
    expect(await world.cli(['delete', 'old-a'])).toMatchObject({ code: 5, stdout: '' })
    expect(await world.cli(['delete'])).toMatchObject({ code: 2 })
  })
})

describe('without a platform', () => {
  test('init writes a file that validate accepts, and overwrites nothing', async () => {
    expect(await world.cli(['init', 'fresh'], { cwd: folder })).toEqual({
      code: 0,
      stdout: 'fresh.yaml\n',
      stderr: '',
    })
    expect(readFileSync(join(folder, 'fresh.yaml'), 'utf8')).toMatch(
      /^# yaml-language-server: \$schema=\.holdfast/,
    )
    expect(
      await world.cli(['validate', '-f', 'fresh.yaml'], { cwd: folder, env: { HOLDFAST_URL: '' } }),
    ).toEqual({
      code: 0,
      stdout: 'deployment/fresh valid\n',
      stderr: '',
    })
    expect(await world.cli(['init', 'fresh'], { cwd: folder })).toMatchObject({ code: 1 })
    expect(await world.cli(['init', 'Fresh'], { cwd: folder })).toMatchObject({ code: 2 })
  })

  test('validate accepts every region that a platform may declare, and reports other faults of residency', async () => {
    const manifest = (residency: string) =>
      `kind: Deployment\nname: web\nimage: registry.example/web:1.0\nplacement: { residency: ${residency} }\n`
    expect(await world.cli(['validate', '-f', '-'], { input: manifest('{ region: ours }') })).toMatchObject({
      code: 0,
      stdout: 'deployment/web valid\n',
    })
    const unsound = manifest('{ country: DE, region: "", blockedCountries: [us] }')
    const ran = await world.cli(['validate', '-f', '-'], { input: unsound })
    expect(ran).toMatchObject({ code: 3, stdout: '' })
    expect(ran.stderr).toContain('placement_invalid at placement.residency.region')
    expect(ran.stderr).toContain('placement_invalid at placement.residency.blockedCountries[0]')
  })

  test('validate reports the faults that the server would, and unreadable files', async () => {
    const path = write('unsound.yaml', 'kind: Deployment\nname: Nö\nimage:\n')
    const ran = await world.cli(['validate', '-f', path])
    expect(ran).toMatchObject({ code: 3, stdout: '' })
    expect(ran.stderr).toContain(`${path}:3:1: image_required at image\n  3 | image:\n    | ^^^^^\n`)
    expect(ran.stderr).toContain('more:     holdfast explain image_required')
    expect(await world.cli(['validate', '-f', join(folder, 'absent.yaml')])).toMatchObject({
      code: 1,
      stderr: `error: ${join(folder, 'absent.yaml')} cannot be read: no such file\n`,
    })
    expect(await world.cli(['validate'])).toMatchObject({ code: 2 })
    expect(await world.cli(['validate', '-f', '-'], { input: 'a:\n\tb: 1\n' })).toMatchObject({ code: 3 })
  })
})
