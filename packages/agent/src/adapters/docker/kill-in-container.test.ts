import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { expect, onTestFinished, test } from 'vitest'
import { killGroup, killProcess } from './kill-in-container.ts'

const CONTAINER = 'c'.repeat(64)

function aProcess() {
  const child = spawn('sleep', ['60'], { detached: true, stdio: 'ignore' })
  onTestFinished(() => void child.kill('SIGKILL'))
  if (child.pid === undefined) throw new Error('sleep did not start')
  return { child, pid: child.pid }
}

test.each([
  ['process', killProcess],
  ['group', killGroup],
])('a %s outside the container is not killed', async (_, kill) => {
  const { child, pid } = aProcess()
  kill(pid, CONTAINER)
  // The process ends by the later signal, so the first call sent none.
  child.kill('SIGTERM')
  expect(await new Promise((resolve) => child.on('exit', (_code, signal) => resolve(signal)))).toBe('SIGTERM')
})

test.each([
  ['process', killProcess],
  ['group', killGroup],
])('a %s of the container is killed', async (_, kill) => {
  const { child, pid } = aProcess()
  // Every process is in the cgroup that its file names.
  kill(pid, readFileSync(`/proc/${pid}/cgroup`, 'utf8').trim())
  expect(await new Promise((resolve) => child.on('exit', (_code, signal) => resolve(signal)))).toBe('SIGKILL')
})
