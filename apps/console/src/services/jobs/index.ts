/** The console's pages of the job queue. */
import type { ServicePages } from "../pages.ts";
import { JobPage } from "./job-page.tsx";
import { JobsPage } from "./jobs-page.tsx";
import { QueuesPage } from "./queues-page.tsx";
import { SchedulesPage } from "./schedules-page.tsx";
import { TenantPage } from "./tenant-page.tsx";
import { TenantsPage } from "./tenants-page.tsx";

export default {
  pages: [
    { id: "queues", component: QueuesPage },
    { id: "jobs", component: JobsPage },
    { id: "schedules", component: SchedulesPage },
    { id: "tenants", component: TenantsPage },
    { id: "tenant", path: "tenants/:tenant", component: TenantPage },
    { id: "job", path: "tenants/:tenant/jobs/:id", component: JobPage },
  ],
} satisfies ServicePages;
