import { vercelService } from "../helpers/cloud/clouds.ts";
import { testCloudFaults } from "./cloudFaults.ts";

testCloudFaults(vercelService);
