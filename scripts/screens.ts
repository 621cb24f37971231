// `node scripts/screens.ts`, as root: captures the pictures of docs/screens in a real terminal, on a platform with four
// machines. Names, ages and addresses in the pictures differ in each run. `node scripts/screens.ts rejection` captures only
// the rejection, on a platform without machines, and needs no root. `node scripts/screens.ts dashboard` captures the pages of the
// dashboard while its test on real machines runs.

import { execFileSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { argv, env } from 'node:process'
import { makeTempFolder, waitUntil } from '@holdfast/testkit'
import { bundledCli, runCli } from '@holdfast/testkit/cli/run-cli'
import { screenToSvg } from '@holdfast/testkit/cli/screen-to-svg'
import { openScreen, type Screen } from '@holdfast/testkit/cli/tmux'
import { type Platform, startPlatform } from '@holdfast/testkit/platform/start-platform'
import { TIMES } from '@holdfast/testkit/scenarios/liveness-times'
import { type LabPlatform, startLabPlatform } from '@holdfast/testkit/scenarios/start-lab-platform'

const ROOT = join(import.meta.dirname, '..')
const NODE = join(ROOT, 'node_modules/.bin/node')
const VITEST = join(ROOT, 'node_modules/.bin/vitest')
const SHOWN = join(ROOT, 'docs/screens')
const COLUMNS = 120
const ROWS = 40

const folder = makeTempFolder('screens')
mkdirSync(SHOWN, { recursive: true })
try {
  if (argv.includes('dashboard')) captureDashboard()
  else await (argv.includes('rejection') ? captureRejection() : captureAll())
} finally {
  folder.remove()
}

function captureDashboard(): void {
  execFileSync(VITEST, ['run', '--project', 'lab', 'tests/real/dashboard/tasks-on-machines.test.ts'], {
    cwd: ROOT,
    env: { ...env, HOLDFAST_PICTURES: SHOWN },
    stdio: 'inherit',
  })
}

async function captureRejection(): Promise<void> {
  const platform = await startPlatform()
  try {
    writeManifests(`${platform.registryHost}/acme/web:1.0`)
    await capture(platform, 'rejection', 'holdfast apply -f broken.yaml', /\n\$\s*$/)
  } finally {
    await platform.stop()
  }
}

async function captureAll(): Promise<void> {
  const ssd = { labels: { disk: 'ssd' } }
  const labPlatform = await startLabPlatform({
    nodesPerTenant: { acme: 4, globex: 0 },
    offers: { 'acme-1': ssd, 'acme-2': { ...ssd, cpuMillis: 1000 }, 'acme-3': ssd },
    settings: { liveness: TIMES },
  })
  const { platform } = labPlatform
  try {
    writeManifests(labPlatform.image)
    await capture(platform, 'apply', 'holdfast apply -f shop/ --wait', /-web running\n\$\s*$/)
    await capture(platform, 'rejection', 'holdfast apply -f broken.yaml', /\n\$\s*$/)
    await breakNodes(labPlatform)
    await capture(platform, 'describe', 'holdfast describe ledger', /\n\$\s*$/)
    await capture(platform, 'status', 'holdfast status', 'nodes ready', (screen) => screen.press('C-c'))
  } finally {
    await labPlatform.stop()
  }
}

/** Types a command on an empty screen and saves the screen when the expected text appears. */
async function capture(
  platform: Platform,
  name: string,
  command: string,
  shown: string | RegExp,
  end = async (_screen: Screen): Promise<void> => {},
): Promise<void> {
  const place = { HOLDFAST_URL: platform.baseUrl, HOLDFAST_TOKEN: platform.acme.token }
  const screen = await openScreen(place, COLUMNS, ROWS)
  try {
    await screen.type(`cd ${folder.path}; alias holdfast='${NODE} ${await bundledCli()}'; clear`)
    await screen.until(/^\$\s*$/)
    await screen.type(command)
    await screen.until(shown)
    const captured = (await screen.styled()).replace(/\n[^\n$]*\$\s*$/, '\n')
    writeFileSync(join(SHOWN, `${name}.svg`), screenToSvg(command, captured, COLUMNS))
    await end(screen)
  } finally {
    await screen.end()
  }
}

function writeManifests(image: string): void {
  const write = (name: string, lines: readonly string[]) =>
    writeFileSync(join(folder.path, name), `${lines.join('\n')}\n`)
  const serve = 'command: ["httpd", "-f", "-p", "8080"]'
  const check = ['healthCheck:', '  type: exec', '  command: ["wget -q -O- http://localhost:8080/"]']
  mkdirSync(join(folder.path, 'shop'))
  write('shop/web.yaml', [
    'kind: Deployment',
    'name: shop-web',
    `image: ${image}`,
    'replicas: 3',
    serve,
    'dependsOn:',
    '  shop-store: started',
    'stopGracePeriod: 1s',
  ])
  write('shop/store.yaml', [
    'kind: Deployment',
    'name: shop-store',
    `image: ${image}`,
    serve,
    'stopGracePeriod: 1s',
  ])
  write('broken.yaml', [
    'kind: Deployment',
    'name: ledger',
    `image: ${image.replace(/:[^:]*$/, ':latest')}`,
    'replica: 2',
    ...check,
    '  timeout: 5s',
    'environment:',
    '  DB_PASSWORD: hunter2',
  ])
  write('ledger.yaml', [
    'kind: Deployment',
    'name: ledger',
    `image: ${image}`,
    'resources:',
    '  cpuMillis: 1500',
    'placement:',
    '  constraints:',
    '    - label: disk',
    '      operator: in',
    '      values: [ssd]',
  ])
}

/** Gives each of the four machines a different problem: cordoned, too small, powered off, or without a required label. */
async function breakNodes({ lab, node, platform }: LabPlatform): Promise<void> {
  const env = { HOLDFAST_URL: platform.baseUrl, HOLDFAST_TOKEN: platform.acme.token }
  const cli = (...words: string[]) => runCli(words, { env, cwd: folder.path })
  await cli('node', 'cordon', 'acme-1')
  await lab.powerOff(node('acme-3'))
  const isDetected = async () => /acme-3 +(unreachable|failed|lost)/.test((await cli('node', 'list')).stdout)
  await waitUntil(isDetected, { what: 'the powered-off machine is detected' })
  await cli('apply', '-f', 'ledger.yaml')
  const isJudged = async () => /ledger +Pending.*unschedulable/.test((await cli('get', 'deployments')).stdout)
  await waitUntil(isJudged, { what: 'ledger is unschedulable' })
}
