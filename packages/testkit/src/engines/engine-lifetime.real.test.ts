import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { afterEach, expect, test } from 'vitest'
import { makeTempFolder, sweepTempFolders } from '../temp-folder.ts'
import { waitUntil } from '../wait-until.ts'
import { endRecordedProcess, isAlive, recordProcess } from './process-record.ts'

let starter: ChildProcess | undefined
afterEach(() => void starter?.kill('SIGKILL'))

/** Runs the script in another process and returns the first line of its output, split at spaces. */
async function runStarter(script: string): Promise<string[]> {
  const source = `import { startEtcd, startRegistry } from ${JSON.stringify(join(import.meta.dirname, '../index.ts'))}
${script}`
  starter = spawn(process.execPath, ['--input-type=module', '-e', source], { stdio: ['ignore', 'pipe', 2] })
  if (starter.stdout === null) throw new Error('no output')
  const [line] = await once(createInterface(starter.stdout), 'line')
  return String(line).split(' ')
}

test('an engine dies with its starter, even after kill -9, and the next process removes its folder', async () => {
  const [pidText, dataDir = ''] = await runStarter(`
    const { members } = await startEtcd()
    console.log(members[0].pid, members[0].dataDir)
    setInterval(() => {}, 1000)`)
  const pid = Number(pidText)
  expect(isAlive(pid)).toBe(true)
  starter?.kill('SIGKILL')
  await waitUntil(() => !isAlive(pid), { what: 'etcd is gone' })
  expect(existsSync(dataDir)).toBe(true)
  await waitUntil(() => !isAlive(starter?.pid ?? 0), { what: 'the starter is gone' })
  sweepTempFolders()
  expect(existsSync(dataDir)).toBe(false)
})

test('a detached engine outlives its starter and is ended by its process record', async () => {
  const folder = makeTempFolder('detached')
  const [pidText, url = ''] = await runStarter(`
    const registry = await startRegistry({ folder: ${JSON.stringify(folder.path)}, detached: true })
    console.log(registry.pid, registry.url)`)
  const record = recordProcess(Number(pidText))
  await waitUntil(() => !isAlive(starter?.pid ?? 0), { what: 'the starter has exited' })
  expect((await fetch(`${url}/v2/`)).status).toBe(200)
  expect(endRecordedProcess({ ...record, startTicks: '1' })).toBe(false)
  expect(isAlive(record.pid)).toBe(true)
  expect(endRecordedProcess(record)).toBe(true)
  await waitUntil(() => !isAlive(record.pid), { what: 'the registry is gone' })
  folder.remove()
})
