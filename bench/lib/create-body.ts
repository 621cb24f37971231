// Builds the request body of the deployment that the benchmarks create.

/** A request body of the usual size: an image, a health check, some environment variables, a few labels. */
export function bodyOf(image: string, name: string, more: object = {}): string {
  return JSON.stringify({
    kind: 'Deployment',
    name,
    image,
    replicas: 3,
    healthCheck: {
      type: 'exec',
      command: ['/bin/healthcheck', '--port', '8080'],
      retries: 3,
      timeout: '10s',
      interval: '15s',
      startPeriod: '5s',
    },
    environment: {
      LOG_LEVEL: 'info',
      LISTEN: '0.0.0.0:8080',
      REGION: 'eu-central',
      FEATURES: 'search,export,reports',
      CACHE_MEGABYTES: '256',
    },
    resources: { cpuMillis: 250, memoryBytes: 268_435_456 },
    limits: { cpuMillis: 1000, memoryBytes: 536_870_912 },
    labels: { 'app.example.com/team': 'storefront', 'app.example.com/tier': 'web' },
    placement: { spread: 'example.com/rack' },
    stopGracePeriod: '20s',
    update: { order: 'start-first', parallelism: 1, failureAction: 'rollback', progressDeadline: '300s' },
    ...more,
  })
}

export const nameOf = (index: number): string => `bench-app-${String(index).padStart(9, '0')}`
