import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { serveLocalhost } from '../../scripts/dev/serve-localhost.ts'

async function listen(host: string): Promise<number> {
  const server = createServer((request, response) => response.end(`${request.method} ${request.url}`))
  await new Promise<void>((resolve) => server.listen(0, host, resolve))
  onTestFinished(() => void server.close())
  const { port } = server.address() as AddressInfo
  return port
}

test('a server at another address of this machine is reached at localhost', async () => {
  const port = await listen('127.0.0.2')
  const dashboard = await serveLocalhost(`http://127.0.0.2:${port}`)
  expect(dashboard).toBe(`http://localhost:${port}/ui/`)
  const response = await fetch(`http://127.0.0.1:${port}/ui/`, { headers: { connection: 'close' } })
  expect(await response.text()).toBe('GET /ui/')
})

test('a server at the loopback address needs no forwarding', async () => {
  const port = await listen('127.0.0.1')
  expect(await serveLocalhost(`http://127.0.0.1:${port}`)).toBe(`http://localhost:${port}/ui/`)
})
